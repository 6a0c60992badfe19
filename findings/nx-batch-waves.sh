#!/usr/bin/env bash
# 2026-11-28, nx@24.0.6
# An executor with a batchImplementation and preferBatch is for tools whose start is dear: one process for many tasks. A batch never
# waits, though: with `dependsOn: ["build"]` each task joins a batch as soon as its own build has ended, so that two projects whose
# builds end at different times are two batches, and two starts of the tool. Without dependsOn, after the builds, they are one.
# Who is hurt: whoever writes such an executor for a test runner and measures it with warm builds, where all are ready at once.
# Seen: "with dependsOn: 2 batches" and "without dependsOn: 1 batches".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export NX_DAEMON=false NX_NO_CLOUD=true CI=true
cat >package.json <<'J'
{ "name": "w", "private": true, "workspaces": ["p/*"] }
J
npm install --silent --no-audit --no-fund nx@24.0.6
mkdir -p p/a p/b plugin
for name in a b; do
  seconds=$([ $name = a ] && echo 0 || echo 3)
  cat >p/$name/package.json <<J
{ "name": "$name", "version": "1.0.0", "nx": { "targets": {
  "build": { "executor": "nx:run-commands", "options": { "command": "sleep $seconds" } },
  "test": { "executor": "./plugin:batch" } } } }
J
done
cat >plugin/package.json <<'J'
{ "name": "plugin", "version": "1.0.0", "executors": "./executors.json" }
J
cat >plugin/executors.json <<'J'
{ "executors": { "batch": { "implementation": "./i.cjs#one", "batchImplementation": "./i.cjs#batch", "preferBatch": true, "schema": "./s.json" } } }
J
echo '{ "version": 2, "type": "object", "properties": {} }' >plugin/s.json
cat >plugin/i.cjs <<'J'
const { appendFileSync } = require("node:fs");
const note = (names) => appendFileSync(process.env.BATCHES, names + "\n");
exports.one = async (_, context) => (note(context.projectName), { success: true });
exports.batch = async ({ tasks }) => {
  note(Object.keys(tasks).join(" "));
  return Object.fromEntries(Object.keys(tasks).map((id) => [id, { success: true, terminalOutput: "" }]));
};
J
count() {
  export BATCHES="$folder/$1.txt"
  echo "{ \"targetDefaults\": { \"test\": { \"dependsOn\": $2 } } }" >nx.json
  node_modules/.bin/nx run-many -t build test >log 2>&1 || { cat log; exit 2; }
  wc -l <"$BATCHES" | tr -d ' '
}
with=$(count with '["build"]')
without=$(node_modules/.bin/nx run-many -t build >/dev/null 2>&1; export BATCHES="$folder/without.txt"; echo '{}' >nx.json; node_modules/.bin/nx run-many -t test >/dev/null 2>&1; wc -l <"$BATCHES" | tr -d ' ')
echo "with dependsOn: $with batches"
echo "without dependsOn: $without batches"
[ "$with" = 2 ] && [ "$without" = 1 ]
