#!/usr/bin/env bash
# Run a command on an X screen of its own, and end both after so many seconds at the latest: on_screen.sh SECONDS COMMAND...
set -euo pipefail
seconds=$1
shift
number=$(mktemp)
Xvfb -displayfd 3 -nolisten tcp -screen 0 1280x860x24 3>"$number" >/dev/null 2>&1 &
screen=$!
trap 'kill "$screen"; rm -f "$number"' EXIT
for _ in {1..100}; do
  [[ -s $number ]] && break
  sleep 0.1
done
DISPLAY=:$(<"$number") timeout --kill-after=10 "$seconds" "$@"
