#!/bin/sh
# Tells the signatures of a model: the names, dtypes and shapes of inputs and outputs.
set -eu

: "${URL:=http://127.0.0.1:8501}"
: "${MODEL:=dates}"

curl --silent --show-error --fail-with-body --max-time 10 "$URL/v1/models/$MODEL/metadata"
