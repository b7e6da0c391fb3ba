# TensorFlow Serving with the models of saved_models/ in it; serving/README.md says how to build and run it.

# -gpu for NVIDIA GPUs: docker build --build-arg VARIANT=-gpu
ARG VARIANT=""

# What the server would wait for without end, or could not read, is found here; none of these tools goes on.
FROM ubuntu:22.04 AS models
COPY saved_models/ /models/
COPY serving/models.config serving/check_models.sh /build/
RUN ["/bin/bash", "/build/check_models.sh", "/build/models.config"]
RUN rm -f /models/README.md && chmod -R a+rX,go-w /models

FROM tensorflow/serving:2.20.0${VARIANT}
COPY --from=models /models/ /models/
COPY serving/*.config serving/init.sh serving/healthy.sh /serving/

# The server reads the models and writes nothing.
USER 65534:65534

HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["/bin/bash", "/serving/healthy.sh"]

# Exports run operations beside each other, and are slower where each one is shared between cores.
ENTRYPOINT ["/bin/bash", "/serving/init.sh", "tensorflow_model_server", \
    "--port=8500", "--rest_api_port=8501", "--tensorflow_intra_op_parallelism=1", \
    "--model_config_file=/serving/models.config", "--monitoring_config_file=/serving/monitoring.config"]
CMD []
