#!/bin/bash
# Whether every model that a config names lies complete where the config says: check_models.sh CONFIG
#
# TensorFlow Serving waits without end for a model that is not there, and loads one that lacks its variables.

config=$1
faults=0

fault() {
    echo "$*" >&2
    faults=$((faults + 1))
}

paths=$(sed 's/#.*//' "$config" | grep -oE '\bbase_path: *"[^"]+"' | cut -d '"' -f 2)
[ -n "$paths" ] || fault "$config names no model"

for path in $paths; do
    latest=$(find "$path" -mindepth 1 -maxdepth 1 -regex '.*/[0-9]+' -printf '%f\n' 2>/dev/null | sort -n | tail -n 1)
    if [ -z "$latest" ]; then
        fault "$config wants a model in $path, and there is no version: export one with \`zoo export\`"
        continue
    fi
    for file in saved_model.pb variables/variables.index; do
        [ -f "$path/$latest/$file" ] || fault "$path/$latest has no $file: it is not a whole export"
    done
done

[ "$faults" -eq 0 ]
