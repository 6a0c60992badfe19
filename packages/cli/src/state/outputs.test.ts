import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionFolder } from "@toolcrib/agent/sessions";
import { defineTool } from "@toolcrib/core";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { createLeftovers } from "@toolcrib/tools-bash";
import { expect, test } from "vitest";
import { homeFor, modelAt } from "../../fixtures/command.ts";
import { createPermissions } from "../tools/permissions.ts";
import { createToolSet } from "../tools/toolSet.ts";
import { findFolders } from "./folders.ts";

const work = homeFor("outputs");
const wire = await sharedWireServer();

function run(...args: string[]): Promise<ProgramEnd> {
  const model = modelAt(wire);
  return work.toolcrib(["run", "go", ...args, ...model]);
}

/** The last thing that the model was sent. */
const lastRequest = (): string => wire.requests.at(-1)?.text ?? "";

test("what a command prints beyond the limit is kept whole, may be read without a question, and goes with its conversation", async () => {
  const call = (name: string, args: object): void =>
    void wire.script(answerWith({ calls: [{ name, args: JSON.stringify(args) }] }));
  call("run_bash", { command: "seq 1 50000" });
  wire.script(answerWith({ text: "Counted." }));
  expect((await run("--enable", "run_bash", "--allow", "run_bash(seq 1 50000)")).code).toBe(0);
  const [, path = ""] = /all of it is in ([^\]\\]+)\]/.exec(lastRequest()) ?? [];
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(50_001);
  expect(statSync(path).mode & 0o777).toBe(0o600);

  call("read_file", { path, offset: 49_990 });
  wire.script(answerWith({ text: "Read." }));
  expect((await run("-c")).code).toBe(0);
  expect(lastRequest()).toContain("\\n49999\\n50000\\n");

  const sessions = join(path, "..", "..", "..");
  const [journal = ""] = readdirSync(sessions).filter((name) => name.endsWith(".jsonl"));
  rmSync(join(sessions, journal));
  wire.script(answerWith({ text: "Hello." }));
  await run();
  expect(existsSync(join(path, ".."))).toBe(false);
});

test("a long answer of another tool is kept, and is read by pages that are not kept again", async () => {
  const outputs = join(work.state, "outputs");
  const text = Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join("");
  const long = defineTool({ name: "long", description: "l", parameters: { type: "object" }, execute: () => text });
  const place = { folders: findFolders(work.env), cwd: work.folder };
  const terminal = { style: { dim: String }, note: () => {} } as never;
  const permissions = createPermissions({ allow: ["long"] }, [work.folder], { ...place, terminal }, "ask", [outputs]);
  const program = { ...place, terminal, leftovers: createLeftovers() };
  const registry = createToolSet({ root: [work.folder] }, permissions, program, { more: [long], outputs });
  const answer = await registry.execute("long", {});
  const [, path = ""] = /all of it is in (.+)\]$/.exec(answer) ?? [];
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(await registry.execute("read_file", { path })).toMatch(/^1\n2\n[\s\S]*\[truncated: shown .*offset=/);
  expect(await registry.execute("search_text", { query: "39999", paths: [path] })).toContain("39999:39999");
  expect(await registry.execute("write_file", { path, content: "" })).toContain("is outside");
  expect(readdirSync(outputs)).toHaveLength(1);
});

test("only the outputs of conversations that are gone are removed", () => {
  for (const name of ["a", "b"]) mkdirSync(join(work.state, "outputs", name), { recursive: true });
  writeFileSync(join(work.state, "outputs", "a", "x.txt"), "x");
  mkdirSync(join(work.state, "outputs", "b", "not ours"));
  writeFileSync(join(work.state, "c.jsonl"), "");
  mkdirSync(join(work.state, "outputs", "c"));
  const sessions = new SessionFolder(work.state);
  sessions.removeLost();
  expect(readdirSync(join(work.state, "outputs"))).toEqual(["b", "c"]);
  expect(sessions.outputsOf(work.at("other.jsonl"))).toBeUndefined();
  expect(sessions.outputsOf(join(work.state, "c.jsonl"))).toBe(join(work.state, "outputs", "c"));
});
