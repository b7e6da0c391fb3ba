#!/bin/sh
# Tells over gRPC, with grpcurl, which versions of a model are served; grpcurl learns the messages from the
# server.
set -eu

: "${TARGET:=127.0.0.1:8500}"
: "${MODEL:=dates}"

grpcurl -plaintext -max-time 10 -d "{\"model_spec\": {\"name\": \"$MODEL\"}}" \
    "$TARGET" tensorflow.serving.ModelService/GetModelStatus
