import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalQuestion, defineTool, type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "../../tools-fs/src/fileSystem.ts";
import { createPolicy, type PolicyOptions, type PolicyQuestion } from "./index.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder("upTo");
  for (const folder of ["app/src", "lib", "out"]) mkdirSync(join(root, folder), { recursive: true });
});

/** Returns the folder that the question about a call of a program offers; "allowed" where none is asked. */
async function offered(
  name: string,
  args: Record<string, unknown>,
  options: PolicyOptions = {},
  effects: readonly ToolEffect[] = [],
): Promise<string | undefined> {
  const own = defineTool({
    ...{ name: "own", description: "For a test.", parameters: { type: "object" } },
    execute: () => "",
    effects: () => effects,
  });
  const roots = [join(root, "app"), join(root, "lib")];
  const registry = new ToolRegistry([...createFsTools({ cwd: join(root, "app") }), own]);
  registry.guard(createPolicy({ roots, ...options }).guard);
  let asked: ApprovalQuestion | undefined;
  const approve = (_: unknown, question: ApprovalQuestion): false => {
    asked = question;
    return false;
  };
  await registry.invoke(name, args, { within: "c", approve });
  return asked ? (asked.data as PolicyQuestion).upTo?.slice(root.length + 1) : "allowed";
}

const write = (path: string): [string, Record<string, unknown>] => ["write_file", { path, content: "x" }];

test("a question about a change of a program offers the root in which its files lie", async () => {
  expect(await offered(...write("src/a.ts"))).toBe("app");
  expect(await offered(...write("../lib/a.ts"))).toBe("lib");
  const nested = { roots: [join(root, "app"), join(root, "app/src")] };
  expect(await offered(...write("src/a.ts"), nested)).toBe("app/src");
  expect(await offered("move", { source: "src", destination: "other" })).toBe("app");
});

test("a question about a call that no program makes offers none", async () => {
  const registry = new ToolRegistry(createFsTools({ cwd: join(root, "app") }));
  registry.guard(createPolicy({ roots: join(root, "app") }).guard);
  const outcome = await registry.invoke("write_file", { path: "a", content: "" });
  expect(JSON.stringify(outcome)).not.toContain('"upTo":');
});

test("nor does one beyond one root, or behind a link that leads out", async () => {
  symlinkSync(join(root, "out"), join(root, "app/link"), "junction");
  expect(await offered(...write("../out/a"))).toBeUndefined();
  expect(await offered(...write("link/a"))).toBeUndefined();
  expect(await offered("move", { source: "src", destination: "../lib/src" })).toBeUndefined();
});

test("nor one that a rule or a protected path asks, where a yes is for that call alone", async () => {
  expect(await offered(...write("src/a.ts"), { mode: "accept-edits", ask: ["write_file(src/**)"] })).toBeUndefined();
  expect(await offered(...write(".git/hooks/pre-commit"), { mode: "full" })).toBeUndefined();
  expect(await offered(...write("src/a.ts"), { mode: "accept-edits" })).toBe("allowed");
});

test("nor one about a command, a host, another machine, or what is not said", async () => {
  const path = join(root, "app/a");
  const others: readonly ToolEffect[] = [
    { kind: "execute", command: "make", cwd: path },
    { kind: "network", host: "a.test" },
    { kind: "write", path, remote: "box" },
  ];
  for (const effect of others) {
    expect(await offered("own", {}, {}, [effect])).toBeUndefined();
    expect(await offered("own", {}, {}, [{ kind: "write", path }, effect])).toBeUndefined();
  }
  expect(await offered("own", {}, {}, [{ kind: "write", path }])).toBe("app");
});
