import { expect, test } from "vitest";
import { resolveServer } from "./serverConfig.ts";
import { otherWays } from "./ways.ts";

const target = resolveServer("s", { url: "http://127.0.0.1:9/mcp", type: "http" }, {});

test.each<[what: string, cause: object]>([
  ["the method is unknown", { code: -32601, message: "none" }],
  ["the revision is not supported", { code: -32022, message: "no", data: { supported: ["2026-07-28"] } }],
  ["an answer over HTTP has such a code", { status: 400, message: 'HTTP 400: {"error": {"code": -32600}}' }],
  ["a newer revision is named", { message: "Unsupported protocol version 2025-11-25 (supported: 2026-07-28)" }],
  ["a wrong one is named first", { code: -32000, message: "Unknown MCP version 2025-11-25, expected 2026-07-28" }],
  ["one is named in the data", { code: -32000, message: "no", data: { supportedVersions: ["2026-07-28"] } }],
])("a server is asked in the newer revision if %s", (_what, cause) => {
  expect(otherWays(target, undefined, cause)).toEqual([{ protocol: "auto", sse: false }]);
  expect(otherWays(target, "legacy", cause)).toEqual([]);
});

test.each<object>([
  { code: -32000, message: "your licence ended on 2026-11-01" },
  { status: 503, message: "closed for maintenance from 2027-01-01 to 2027-01-03" },
  { code: -32603, message: "no file report-2026-07-28.txt" },
  { code: -32000, message: "bad log", data: { since: "2026-10-10", until: "2026-10-12" } },
  { code: -32000, message: "this endpoint is unsupported since 2026-10-01, version 2027-01-01 comes" },
  { code: -32000, message: "order -326010 is unknown, see -32601-b" },
  { code: -32000, message: "the protocol version 2025-11-25 is not supported" },
  {},
])("the error %j says nothing of a newer revision", (cause) => {
  expect(otherWays(target, undefined, cause)).toEqual([]);
});
