#!/usr/bin/env bash
# 2026-11-30, @anthropic-ai/sdk@1.14.0 with zod@4.6.7
# `zodOutputFormat` and `jsonSchemaOutputFormat` write a map (`z.record`, `additionalProperties: {…}`) as an object without properties in which
# other keys are refused. Tuples and `z.any()` raise an error there; a map does not, and the schema allows one value: `{}`.
# Hurt: whoever asks for scores by name, translations by language, counts by file: the service holds the model to the schema, the empty map is
# a valid record for zod, and the answer looks complete. A list of `{ key, value }` is what works.
# Seen: {"type":"object","properties":{},"additionalProperties":false}, and {} accepted.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @anthropic-ai/sdk@1.14.0 zod@4.6.7 >/dev/null
cat >main.mjs <<'JS'
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
const Review = z.object({ scores: z.record(z.string(), z.number()) });
const number = { type: "number" };
const schema = { type: "object", properties: { scores: { type: "object", additionalProperties: number } }, required: ["scores"] };
for (const format of [zodOutputFormat(Review), jsonSchemaOutputFormat(schema)]) {
  const { description, ...scores } = format.schema.properties.scores;
  console.log(JSON.stringify(scores));
}
console.log(JSON.stringify(zodOutputFormat(Review).parse('{"scores":{}}')));
JS
output=$(node main.mjs)
echo "$output"
empty='{"type":"object","properties":{},"additionalProperties":false}'
[ "$output" = "$(printf '%s\n' "$empty" "$empty" '{"scores":{}}')" ]
