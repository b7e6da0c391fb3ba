#!/bin/sh
# Asks a model over gRPC with grpcurl, each argument one text: ask_grpc.sh "15. Februar 2019" "Feb 15, 2019"
#
# grpcurl learns the messages from the server: TensorFlow Serving tells them, the embedded server does not.
# Strings are base64 both ways.
set -eu

: "${TARGET:=127.0.0.1:8500}"
: "${MODEL:=dates}"
: "${SIGNATURE:=serving_default}"

values=
for text in "$@"; do
    encoded=$(printf '%s' "$text" | base64 | tr -d '\n')
    values="$values${values:+, }\"$encoded\""
done
shape="{\"dim\": [{\"size\": \"$#\"}]}"
tensor="{\"dtype\": \"DT_STRING\", \"tensor_shape\": $shape, \"string_val\": [$values]}"

spec="{\"name\": \"$MODEL\", \"signature_name\": \"$SIGNATURE\"}"

grpcurl -plaintext -max-time 30 -d "{\"model_spec\": $spec, \"inputs\": {\"text\": $tensor}}" \
    "$TARGET" tensorflow.serving.PredictionService/Predict
