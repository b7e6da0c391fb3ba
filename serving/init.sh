#!/bin/bash
# Runs a server as process 1 of a container: init.sh COMMAND ARGUMENTS...
#
# As process 1 itself the server would never see SIGTERM, so bash stays in front and passes it on. A signal
# ends bash's `wait` but not the server, so bash waits until that is gone, and ends with its status.

"$@" &
server=$!
trap 'kill -TERM $server' TERM INT
while wait $server; status=$?; kill -0 $server 2>/dev/null; do :; done
exit $status
