#!/usr/bin/env bash
# Counts the words of some files with shell workers: a node per file, and one that adds up.
#   map_reduce.sh [FF]      FF is the program ff, if it is not on the PATH
set -euo pipefail
ff=$(realpath -e "$(type -P "${1:-ff}")" 2> /dev/null) || { echo "$0: there is no program ${1:-ff}" >&2; exit 1; }
directory=$(mktemp -d)
cd "$directory"
trap 'kill "${worker:-}" "${server:-}" 2> /dev/null || true; wait; rm -rf "$directory"' EXIT

# A server on any free port. A line of its log says where, once it serves.
exec 3< <("$ff" server --store embedded:./data --listen 127.0.0.1:0 2>&1)
server=$!
until [[ ${line:-} = *" serves "* ]]; do
  read -r line <&3 || { echo "$0: the server does not start" >&2; exit 1; }
done
FF_URL=${line##* }
export FF_URL

echo "one two three" > a.txt
echo "four five" > b.txt
echo "six" > c.txt

# A worker for both kinds. A node's inputs are files in FF_INPUTS_DIR: here part.1, part.2 and part.3.
cat > work.sh <<'COMMAND'
case $FF_KIND in
  count) xargs cat | wc -w ;;
  sum) cat "$FF_INPUTS_DIR"/part.* | awk '{ all += $1 } END { print all " words" }' ;;
esac
COMMAND
"$ff" work 'bash work.sh' --concurrency 3 2> worker.log & worker=$!

# The graph: a node for each file, and their sum.
{
  echo '{"kind": "map_reduce", "result": "sum", "nodes": ['
  for file in *.txt; do
    echo "{\"name\": \"$file\", \"kind\": \"count\", \"payload\": \"$PWD/$file\"},"
    after+="${after:+, }{\"node\": \"$file\", \"input\": \"part\"}"
  done
  echo "{\"name\": \"sum\", \"kind\": \"sum\", \"after\": [$after]}]}"
} > graph.json

"$ff" flow submit graph.json --dry-run
id=$("$ff" flow submit graph.json)
"$ff" flow watch "$id" > /dev/null
"$ff" flow graph "$id"
"$ff" flow submit graph.json --wait
