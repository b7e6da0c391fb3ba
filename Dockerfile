# TensorFlow Serving with the models of saved_models/ in it; serving/README.md says how to build and run it.
FROM tensorflow/serving:2.20.0

COPY serving/models.config /serving/models.config
COPY saved_models/ /models/

# The server reads the models and writes nothing.
USER 65534:65534

# The image has no curl: bash asks for the model's state, and an answer that names AVAILABLE is health.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/bin/bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8501 && printf 'GET /v1/models/dates HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q '\"AVAILABLE\"' <&3"]

# As process 1 the server would ignore SIGTERM, so bash stays in front and passes it on. A signal ends bash's
# `wait` but not the server, so bash waits until that is gone, and ends with its status.
ENTRYPOINT ["/bin/bash", "-c", \
    "tensorflow_model_server \"$@\" & server=$!; trap 'kill -TERM $server' TERM INT; \
     while wait $server; status=$?; kill -0 $server 2>/dev/null; do :; done; exit $status", "serving", \
    "--port=8500", "--rest_api_port=8501", "--model_config_file=/serving/models.config"]
CMD []
