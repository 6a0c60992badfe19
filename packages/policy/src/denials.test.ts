import { join } from "node:path";
import { type DenialDetails, type Guard, isToolError, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "../../tools-fs/src/fileSystem.ts";
import { createPolicy } from "./policy.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder("denials");
  writeIn(root, "key.pem", "secret\n");
});

/** The error of a denied call, as a program gets it. */
async function denied(name: string, args: object, guard?: Guard, answer?: boolean | string) {
  const registry = new ToolRegistry(createFsTools({ root, cwd: root, deny: ["*.pem"] }));
  if (guard) registry.guard(guard);
  const options = answer === undefined ? {} : { approve: () => answer };
  const outcome = await registry.invoke(name, args, options);
  if (outcome.ok || !isToolError(outcome.error) || outcome.error.code !== "permission_denied")
    throw new Error(`not denied: ${JSON.stringify(outcome)}`);
  const { details, recoverable, message } = outcome.error;
  return { details, recoverable, message };
}

const policy = (options: Parameters<typeof createPolicy>[0] = {}): Guard =>
  createPolicy({ roots: root, ...options }).guard;
const write = { path: "a.txt", content: "x" };

test.each<[string, object, DenialDetails["by"]]>([
  ["read_file", { path: "../x" }, "root"],
  ["move", { source: "../x", destination: "y" }, "root"],
  ["read_file", { path: "key.pem" }, "deny"],
])("%s %j is denied alike with a policy and without", async (name, args, by) => {
  const plain = await denied(name, args);
  expect(plain).toMatchObject({ recoverable: true, details: { by, path: expect.any(String) } });
  const judged = await denied(name, args, policy({ mode: "full" }));
  expect([judged.details, judged.recoverable]).toEqual([plain.details, plain.recoverable]);
});

test.each<[string, Guard, boolean | string | undefined, object]>([
  ["a rule", policy({ deny: ["effect:write(*.txt)"] }), undefined, { by: "rule", rule: "effect:write(*.txt)" }],
  ["a mode", policy({ mode: "read-only" }), undefined, { by: "mode", mode: "read-only" }],
  ["a guard in words", () => "not on Fridays", undefined, { by: "guard" }],
  ["a guard with details", () => ({ deny: "no", details: { by: "rule", rule: "R" } }), undefined, { rule: "R" }],
  ["the user", policy({ mode: "ask" }), "not now", { by: "user" }],
  ["the user without words", policy({ mode: "ask" }), false, { by: "user" }],
])("%s that denies is told apart", async (_who, guard, answer, details) => {
  const outcome = await denied("write_file", write, guard, answer);
  expect(outcome).toMatchObject({ recoverable: false, details });
});

test("a tool that denies without details is told as the tool", async () => {
  const { details } = await denied("remove", { path: "." });
  expect(details).toMatchObject({ by: "tool" });
});

test("the program's own state is told as protected, with the path", async () => {
  const ownState = { folders: [join(root, "state")], why: "it is where answers are kept" };
  const { details } = await denied("write_file", { path: "state/a", content: "" }, policy({ mode: "full", ownState }));
  expect(details).toEqual({ by: "protected", path: join(root, "state/a") });
});
