#!/usr/bin/env bash
# Runs `toolsmith chat` against imitations of the providers' servers that other people made: aimock of
# npm and fakellm of PyPI. Installs them, in pinned versions, into a temporary folder; starts and ends
# them; says what it skips where npm or Python is missing. Ends with 1 when an answer is wrong.
#
#     tests/scripts/chat-against-imitations.sh [PATH-OF-TOOLSMITH]
#
# Without a path the command is built with cargo.
set -euo pipefail

readonly AIMOCK='@copilotkit/aimock@1.43.0'
readonly FAKELLM='fakellm==0.3.5'
readonly QUESTION="What's the weather in Tokyo?"
readonly ANSWER='The weather in Tokyo is sunny, 22°C.'
readonly RESULT='Weather in Tokyo: Sunny, 22°C'

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
server=
failures=0

stop() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
  fi
}
trap 'stop; rm -rf "$work"' EXIT

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "WRONG: $*"
  failures=$((failures + 1))
}

# Starts a server whose log is $work/server.log and sets `port` to the one that it found.
start() {
  : >"$work/server.log"
  "$@" >"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    port=$(grep -oE 'http://127\.0\.0\.1:[1-9][0-9]*' "$work/server.log" | head -n 1 | grep -oE '[0-9]+$' || true)
    [[ -z $port ]] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  say "the server does not start:"
  cat "$work/server.log" >&2
  exit 1
}

# Asks the question of the documents through one dialect and compares the answer.
check() {
  local imitation=$1 provider=$2 base_url=$3 kept
  kept="$work/$imitation-$provider.json"
  local answer
  if ! answer=$(cd "$work/project" && "$toolsmith" chat --quiet -p "$QUESTION" --model imitated \
    --provider "$provider" --base-url "$base_url" --conversation "$kept" 2>"$work/stderr"); then
    fail "$imitation, $provider: chat failed: $(cat "$work/stderr")"
  elif [[ $answer != "$ANSWER" ]]; then
    fail "$imitation, $provider: expected \"$ANSWER\", found \"$answer\""
  elif ! grep -qF "$RESULT" "$kept"; then
    fail "$imitation, $provider: the result of the tool is not in the conversation"
  else
    say "ok: $imitation, $provider"
  fi
}

# A question that the server refuses must be a failure with the server's words.
check_failure() {
  local imitation=$1 provider=$2 base_url=$3 words=$4
  if (cd "$work/project" && "$toolsmith" chat --quiet -p 'Something else' --model imitated \
    --provider "$provider" --base-url "$base_url") >"$work/stdout" 2>"$work/stderr"; then
    fail "$imitation, $provider: a question without an answer did not fail: $(cat "$work/stdout")"
  elif [[ -s $work/stdout ]] || ! grep -q "^error: .*$words" "$work/stderr"; then
    fail "$imitation, $provider: expected \"$words\" on stderr alone, found: $(cat "$work/stderr" "$work/stdout")"
  else
    say "ok: $imitation, $provider: $(head -n 1 "$work/stderr")"
  fi
}

with_aimock() {
  if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    say 'skipped: aimock (npm or node is missing)'
    return
  fi
  if ! npm install --prefix "$work/npm" --no-audit --no-fund --ignore-scripts --silent "$AIMOCK" \
    >"$work/install.log" 2>&1; then
    say "skipped: aimock (npm can't install it: $(tail -n 1 "$work/install.log"))"
    return
  fi
  cat >"$work/fixtures.json" <<JSON
{"fixtures": [
  {"match": {"userMessage": "weather in Tokyo", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "getWeather", "arguments": {"city": "Tokyo"}}]}},
  {"match": {"userMessage": "weather in Tokyo", "toolResultContains": "$RESULT"},
   "response": {"content": "$ANSWER"}}
]}
JSON
  start node "$work/npm/node_modules/@copilotkit/aimock/dist/cli.js" \
    --port 0 --fixtures "$work/fixtures.json" --strict --chunk-size 7
  check aimock openai "http://127.0.0.1:$port/v1"
  check aimock anthropic "http://127.0.0.1:$port"
  check_failure aimock openai "http://127.0.0.1:$port/v1" 'no fixture matched'
  check_failure aimock anthropic "http://127.0.0.1:$port" 'no fixture matched'
  stop
}

with_fakellm() {
  if ! command -v python3 >/dev/null || ! python3 -m venv "$work/python" >/dev/null 2>&1; then
    say 'skipped: fakellm (python3 with venv is missing)'
    return
  fi
  if ! "$work/python/bin/pip" install --quiet --disable-pip-version-check "$FAKELLM" \
    >"$work/install.log" 2>&1; then
    say "skipped: fakellm (pip can't install it: $(tail -n 1 "$work/install.log"))"
    return
  fi
  cat >"$work/fakellm.yaml" <<YAML
version: 1
rules:
  - name: answer
    when: {previous_message_role: assistant, tool_result_contains: "$RESULT"}
    respond: {content: "$ANSWER"}
  - name: call
    when: {messages_contain: "weather in Tokyo", tools_include: getWeather}
    respond: {tool_calls: [{name: getWeather, arguments: {city: Tokyo}}]}
YAML
  for provider in openai anthropic; do
    # A server for each: it takes equal questions for one conversation. It refuses nothing that is
    # to be streamed, so that there is no failure to be checked.
    start "$work/python/bin/fakellm" serve --port 0 --config "$work/fakellm.yaml"
    local base_url="http://127.0.0.1:$port"
    [[ $provider == anthropic ]] || base_url+=/v1
    check fakellm "$provider" "$base_url"
    stop
  done
}

# A project with the tool of the documents.
make_project() {
  mkdir -p "$work/project/plugins"
  cat >"$work/project/toolsmith.toml" <<TOML
[sdk]
path = "$repository/tool-sdk"
TOML
  (cd "$work/project" && "$toolsmith" new get-weather >/dev/null 2>&1)
  cat >"$work/project/plugins/get-weather/src/lib.rs" <<'RUST'
use tool_sdk::prelude::*;

/// Fetch current weather and forecast for a given city.
#[tool(name = "getWeather")]
fn get_weather(
    /// City name
    city: String,
) -> String {
    format!("Weather in {city}: Sunny, 22°C")
}
RUST
  (cd "$work/project" && "$toolsmith" list >/dev/null)
}

if (($# > 0)); then
  toolsmith=$(realpath "$1")
else
  toolsmith=$(cargo build --manifest-path "$repository/Cargo.toml" --package agent-core --locked \
    --message-format json | grep -oE '"executable":"[^"]+/toolsmith"' | tail -n 1 | cut -d '"' -f 4)
fi
export TOOLSMITH_TARGET="${TOOLSMITH_TARGET:-$work/target}"
unset TOOLSMITH_STATE
make_project
with_aimock
with_fakellm
((failures == 0)) || exit 1
