#!/usr/bin/env bash
# 2026-11-30, zod@4.6.7 beside ajv@8
# `z.fromJSONSchema` throws at keywords that it does not know (`not`, `if`, `dependentRequired`), so what it converts without an error looks
# complete. It is not: beside a `type` it leaves `anyOf` and `allOf` out, without a `type` everything else, and a name in `required` that
# has no entry in `properties`; a `const` or `enum` that holds an object refuses that very object.
# Hurt: whoever turns tool definitions of MCP servers or OpenAPI files into zod to check a model's arguments: they pass here and fail at the
# server ("a or b is required"), or a value that the schema names is refused.
# Seen: five rows "ajv: … zod: …" that differ.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --no-audit --no-fund --ignore-scripts --loglevel=error zod@4.6.7 ajv@8.17.1 >/dev/null
cat >main.mjs <<'JS'
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
const text = { type: "string" };
const either = [{ required: ["path"] }, { required: ["url"] }];
const cases = {
  "type and anyOf": [{ type: "object", properties: { path: text, url: text }, anyOf: either }, {}],
  "type and allOf": [{ type: "string", allOf: [{ minLength: 2 }] }, "a"],
  "no type": [{ properties: { path: text }, required: ["path"] }, {}],
  "required alone": [{ type: "object", required: ["path"] }, {}],
  "const of an object": [{ const: { kind: "all" } }, { kind: "all" }],
};
const ajv = new Ajv2020({ strict: false });
for (const [name, [schema, value]] of Object.entries(cases)) {
  const [one, other] = [ajv.validate(schema, value), z.fromJSONSchema(schema).safeParse(value).success];
  console.log(`${name}: ajv: ${one} zod: ${other}`);
}
JS
output=$(node main.mjs)
echo "$output"
[ "$(grep -c 'ajv: false zod: true' <<<"$output")" = 4 ] && grep -q 'object: ajv: true zod: false' <<<"$output"
