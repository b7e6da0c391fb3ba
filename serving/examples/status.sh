#!/bin/sh
# Tells which versions of a model are served, and whether they can be asked: look for "state": "AVAILABLE".
set -eu

: "${URL:=http://127.0.0.1:8501}"
: "${MODEL:=dates}"

curl --silent --show-error --fail-with-body --max-time 10 "$URL/v1/models/$MODEL"
