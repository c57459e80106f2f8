#!/usr/bin/env bash
# A shell script that waits for an approval: it asks, ends, and runs again when it has the answer.
#   shell_approval.sh [FF]      FF is the program ff, if it is not on the PATH
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

# The work. It writes to file 3 what it waits for, and ends with 75; no process waits. When it runs again,
# FF_WAKE says why, and FF_SIGNALS_FILE has the answers, one JSON object per line.
cat > deploy.sh <<'COMMAND'
if [ -z "${FF_WAKE:-}" ]; then
  cat >&3 <<'REQUEST'
{"reason": "waiting_for_approval", "timeout_ms": 86400000, "on_timeout": "cancel",
 "condition": {"waitpoint": "deploy"},
 "waitpoints": [{"key": "deploy",
                 "question": {"title": "Deploy?",
                              "choices": [{"signal": "approve", "label": "Yes"},
                                          {"signal": "reject", "label": "No"}]}}]}
REQUEST
  exit 75
fi
grep -q '"name":"approve"' "$FF_SIGNALS_FILE" || { echo "not deployed"; exit 0; }
echo "version $(cat) is deployed"
COMMAND
"$ff" work 'bash deploy.sh' 2> worker.log & worker=$!

# The token of the question, once there is one. It would go to a person by mail.
token_of() {
  until "$ff" waitpoints "$1" --tokens --json | grep -o '"token":"[^"]*"' | cut -d '"' -f 4 | grep .; do :; done
}

id=$("$ff" submit deploy 7)
token_of "$id" > token.txt
echo "Before the answer:"
"$ff" why "$id"
echo "A token that was tampered with:"
"$ff" approve "x$(cat token.txt)" || echo "exit code $?"
echo "The real one, through standard input:"
"$ff" approve - --comment 'go' < token.txt
"$ff" result "$id" --wait

id=$("$ff" submit deploy 8)
token_of "$id" > token.txt
"$ff" reject @token.txt
"$ff" result "$id" --wait
