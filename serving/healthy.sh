#!/bin/bash
# Whether every model that a config names can be asked: healthy.sh [CONFIG [PORT]]
#
# The image has no curl: bash itself asks over REST for each model's state. The HTTP status says nothing about
# that, so the answer must name a version that is AVAILABLE.

config=${1:-/serving/models.config}
port=${2:-8501}

names=$(sed 's/#.*//' "$config" | grep -oE '\bname: *"[^"]+"' | cut -d '"' -f 2)
[ -n "$names" ] || { echo "$config names no model" >&2; exit 1; }

for name in $names; do
    exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
    printf 'GET /v1/models/%s HTTP/1.0\r\n\r\n' "$name" >&3
    grep -q '"AVAILABLE"' <&3 || { echo "model $name is not available" >&2; exit 1; }
    exec 3>&-
done
