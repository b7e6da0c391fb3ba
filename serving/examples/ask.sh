#!/bin/sh
# Asks a model over REST, each argument one text: ask.sh "15. Februar 2019" "Feb 15, 2019"
#
# Texts go as base64, so that any character, and any byte, may be in them.
set -eu

: "${URL:=http://127.0.0.1:8501}"
: "${MODEL:=dates}"
: "${SIGNATURE:=serving_default}"

instances=
for text in "$@"; do
    encoded=$(printf '%s' "$text" | base64 | tr -d '\n')
    instances="$instances${instances:+, }{\"b64\": \"$encoded\"}"
done

curl --silent --show-error --fail-with-body --max-time 30 --retry 4 --retry-connrefused \
    --data "{\"signature_name\": \"$SIGNATURE\", \"instances\": [$instances]}" \
    "$URL/v1/models/$MODEL:predict"
