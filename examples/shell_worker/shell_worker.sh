#!/usr/bin/env bash
# A worker in the shell: a server, a command that runs for every execution, and some work for it.
#   shell_worker.sh [FF]      FF is the program ff, if it is not on the PATH
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

# The work: the payload comes on standard input, the result is what is printed. Exit code 65 says that the
# data are wrong, so that nobody tries again; any other code is retried as the execution's policy says.
cat > count_words.sh <<'COMMAND'
text=$(cat)
[ -n "$text" ] || { echo "there is no text to count" >&2; exit 65; }
if [ "$FF_KIND" = flaky ] && [ "$FF_ATTEMPT_INDEX" = 0 ]; then echo "not today" >&2; exit 1; fi
echo "$FF_TAG_TEXT_AUTHOR wrote $(wc -w <<< "$text") words"
COMMAND
"$ff" work 'bash count_words.sh' --lanes words --concurrency 2 2> worker.log & worker=$!

echo "A result:"
"$ff" submit count 'to be or not to be' --lane words --tag text.author=Shakespeare --wait

echo "A result at the second attempt:"
id=$("$ff" submit flaky 'It was a dark and stormy night' --lane words --tag text.author=Bulwer-Lytton \
     --retries 3 --backoff 50ms)
"$ff" result "$id" --wait
"$ff" attempts "$id"

echo "A failure that nobody retries:"
"$ff" submit count '' --lane words --retries 3 --wait || echo "exit code $?"

echo "One execution per line:"
seq 1 100 | "$ff" submit count --lines --lane words --tag text.author=seq | while read -r id; do
  "$ff" result "$id" --wait > /dev/null
done
"$ff" counts
