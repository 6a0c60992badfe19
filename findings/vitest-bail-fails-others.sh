#!/usr/bin/env bash
# 2026-11-28, vitest@5.1.1
# With --bail=1 the JSON report calls every file "failed" that was not begun because another one had failed. Such a file has no test and an
# empty message, as a file has that cannot be loaded, and files are listed by their names: the first "failed" one is often one that never ran.
# Who is hurt: whoever reads the report to learn what failed (mutation testing, lists of flaky tests, bots that write comments): the counts
# of files are too high and the blame falls on the wrong file. Files with a failed assertion have to be looked for first.
# Seen: "a.test.js failed, tests: 0" and "z.test.js failed, tests: 1"; a.test.js passes when it is run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts vitest@5.1.1 2>/dev/null
cat >a.test.js <<'J'
import { test } from "vitest";
test("passes", () => {});
J
cat >z.test.js <<'J'
import { expect, test } from "vitest";
// The larger file of a first run is begun first.
test("fails", () => expect(1).toBe(2));
J
npx vitest run --bail=1 --maxWorkers=1 --reporter=json --outputFile=report.json >log 2>&1 || true
cat >read.cjs <<'J'
for (const { name, status, message, assertionResults } of require("./report.json").testResults)
  console.log(`${name.split("/").at(-1)} ${status}, tests: ${assertionResults.length}${message}`);
J
node read.cjs | tee seen
npx vitest run a.test.js >log 2>&1
[ "$(cat seen)" = "a.test.js failed, tests: 0
z.test.js failed, tests: 1" ]
