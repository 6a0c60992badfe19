import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import type { McpConfig } from "../client/serverConfig.ts";
import { allowedServers, fileConsents, type McpConsentQuestion, type McpConsents } from "../config.ts";

const config: McpConfig = { mcpServers: { a: { command: "x" }, off: { command: "y", disabled: true } } };
let path = "";
let consents: McpConsents;

beforeEach(() => {
  path = join(temporaryFolder("consents"), "folder", "consents.json");
  consents = fileConsents(path, "/somewhere");
});

test("a yes is kept for the entry as it is; a changed one is asked about again; nobody to ask is an error", async () => {
  const asked: McpConsentQuestion[] = [];
  const answer = (yes: boolean) => async (question: McpConsentQuestion) => {
    asked.push(question);
    return yes;
  };
  await expect(allowedServers(config, consents)).rejects.toMatchObject({
    code: "not_allowed",
    details: { names: ["a"] },
    message: ".mcp.json: a is not allowed to start with its present entry",
  });
  expect(await allowedServers(config, consents, answer(false))).toEqual({ mcpServers: {} });
  expect(await allowedServers(config, consents, answer(true))).toEqual({ mcpServers: { a: { command: "x" } } });
  expect(await allowedServers(config, consents)).toEqual({ mcpServers: { a: { command: "x" } } });
  const changed = { mcpServers: { a: { command: "z" } } };
  expect(await allowedServers(changed, consents, answer(false))).toEqual({ mcpServers: {} });
  expect(asked.map(({ name, consent }) => `${name} ${consent}`)).toEqual(["a new", "a new", "a changed"]);
  await consents.save({ a: undefined });
  expect(await consents.read(config)).toEqual(new Map(Object.entries({ a: "new", off: "new" })));
});

test("the file is the user's alone; one that others can write allows nothing", async () => {
  await consents.save({ a: config.mcpServers.a });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect((await consents.read(config)).get("a")).toBe("allowed");
  chmodSync(path, 0o666);
  expect((await consents.read(config)).get("a")).toBe("new");
  await expect(consents.save({ a: undefined })).rejects.toThrow(/others can write it/);
});
