import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { servedEntry } from "../../fixtures/serving.ts";
import { checkServers, fileConsents } from "../config.ts";

test("servers of the user and those that are allowed are looked at; the others are named and not started", async () => {
  const folder = temporaryFolder("checks");
  const allowed = await servedEntry();
  const consents = fileConsents(join(folder, "consents.json"), "/somewhere");
  const started = join(folder, "started");
  const evil = {
    command: process.execPath,
    args: ["-e", `require("fs").writeFileSync(${JSON.stringify(started)}, "")`],
  };
  const project = {
    mcpServers: { allowed, evil, changed: evil, off: { ...evil, disabled: true } },
  };
  await consents.save({ allowed, changed: allowed });
  const user = { mcpServers: { mine: { command: "no-such-program-anywhere" } } };
  const checks = await checkServers(project, { user, consents });
  expect(checks.map(({ server, isOk }) => `${server} ${isOk}`)).toEqual([
    "mine false",
    "allowed true",
    "evil false",
    "changed false",
  ]);
  expect(checks[2]).toMatchObject({
    text: "evil of .mcp.json is not allowed to start with its present entry",
    advice: "toolcrib mcp list shows it, toolcrib mcp allow evil allows it",
  });
  expect(checks[3]?.text).toBe("changed of .mcp.json is not allowed to start with its present entry");
  expect(existsSync(started)).toBe(false);
  const [strange] = await checkServers({ mcpServers: { "x; touch y": evil } }, { consents });
  expect(strange?.advice).toBe("toolcrib mcp list shows it, toolcrib mcp allow NAME allows it");
});
