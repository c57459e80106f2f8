#!/usr/bin/env bash
# A worker that streams words and is killed half-way: a reader sees them live, then the next attempt from its start.
#   streamed_words.sh [FF]      FF is the program ff, if it is not on the PATH
set -euo pipefail
ff=$(realpath -e "$(type -P "${1:-ff}")" 2> /dev/null) || { echo "$0: there is no program ${1:-ff}" >&2; exit 1; }
directory=$(mktemp -d)
cd "$directory"
trap 'kill "${reader:-}" "${worker:-}" "${server:-}" 2> /dev/null || true; wait; rm -rf "$directory"' EXIT

exec 3< <("$ff" server --store embedded:./data --listen 127.0.0.1:0 2>&1)
server=$!
until [[ ${line:-} = *" serves "* ]]; do
  read -r line <&3 || { echo "$0: the server does not start" >&2; exit 1; }
done
FF_URL=${line##* }
export FF_URL

# Each line that it prints is a frame at once; everything together is the result.
cat > tell.sh <<'COMMAND'
for word in once upon a time there was a worker; do echo "$word"; sleep 0.2; done
COMMAND
"$ff" work 'bash tell.sh' --stream --lease-ttl 1s --id first 2> first.log & worker=$!
id=$("$ff" submit tell)

# A reader, which stays through all of it.
"$ff" tail "$id" > told.txt 2>&1 & reader=$!
until grep -q upon told.txt; do sleep 0.1; done
kill -9 "$worker"   # its machine is gone; after a second, its lease is over
"$ff" work 'bash tell.sh' --stream --id second 2> second.log & worker=$!
wait "$reader"

echo "What the reader saw:"
tr '\n' ' ' < told.txt
echo
echo "The result:"
"$ff" result "$id" | tr '\n' ' '
echo
