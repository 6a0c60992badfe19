import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder } from "@toolcrib/testing";
import { createFsTools } from "@toolcrib/tools-fs";
import { beforeEach, expect, test } from "vitest";
import { createRandom, type Random, suiteSeed } from "../random.ts";
import { rounds, suiteTimeout } from "./child.ts";
import { snapshot } from "./snapshot.ts";

const secret = "the-secret-nobody-may-read";

let base: string;
let root: string;
let outside: string;

// Deep enough that no path made here climbs out of `base`, should a guard fail.
beforeEach(() => {
  base = temporaryFolder("confined");
  root = join(base, "1/2/3/4/5/6/root");
  outside = join(base, "1/2/3/4/5/6/root-outside");
});

function build(): void {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(join(root, "dir/sub"), { recursive: true });
  mkdirSync(join(outside, "dir/sub"), { recursive: true });
  for (const where of [root, outside]) {
    for (const name of ["file", "dir/file", "dir/sub/file"]) {
      writeFileSync(join(where, name), where === outside ? secret : "inside");
    }
  }
  const targets = [
    outside,
    join(outside, "dir"),
    join(outside, "new"),
    "../root-outside",
    "dir",
    "dir/../../root-outside",
    "loop",
    "..",
  ];
  for (const [index, target] of targets.entries()) symlinkSync(target, join(root, `link${index}`));
  symlinkSync(join(outside, "dir"), join(root, "dir/out"));
  symlinkSync("../link0", join(root, "dir/chain"));
}

function tools(): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of createFsTools({ root, cwd: root })) registry.register(tool);
  return registry;
}

const pieces = ["..", ".", "", "dir", "sub", "file", "new", "out", "chain", "root-outside", "root", "..a", "~", "loop"];

function randomPath(random: Random): string {
  const names = Array.from({ length: 1 + random(5) }, () =>
    random(3) ? pieces[random(pieces.length)] : `link${random(8)}`,
  );
  const climbs = names.filter((name) => name === "..").length;
  if (climbs > 4) return "dir";
  const start = ["", "", `${root}/`, `${outside}/`, `${base}/1/2/3/4/5/6/`, "./"][random(6)];
  // An empty first part would name the root of the real filesystem.
  return start + names.join("/").replace(/^\/+/, "") + ["", "", "/", "/."][random(4)];
}

function randomCall(random: Random): [string, Record<string, unknown>] {
  const path = randomPath(random);
  const calls: [string, Record<string, unknown>][] = [
    ["read_file", { path }],
    ["write_file", { path, content: "written" }],
    ["edit_file", { path, edits: [{ old_text: "e", new_text: "E", replace_all: true }] }],
    ["list_dir", { path }],
    ["mkdir", { path }],
    ["remove", { path }],
    ["move", { source: path, destination: randomPath(random) }],
  ];
  return calls[random(calls.length)] as [string, Record<string, unknown>];
}

test("no call changes or shows a file outside the root, by a comparison of the disk", {
  timeout: suiteTimeout,
}, async () => {
  const count = rounds(100) * 20;
  const random = createRandom(suiteSeed);
  let denied = 0;
  let succeeded = 0;
  for (let index = 0; index < count; index += 1) {
    if (index % 50 === 0) build();
    const before = snapshot(outside, true);
    const [tool, args] = randomCall(random);
    const answer = await tools().execute(tool, args, { timeoutMs: 10_000 });
    expect(snapshot(outside, true), `${tool} ${JSON.stringify(args)}: ${answer}`).toEqual(before);
    expect(answer, `${tool} ${JSON.stringify(args)}`).not.toContain(secret);
    if (/is outside/.test(answer)) denied += 1;
    else if (!answer.startsWith("Error")) succeeded += 1;
  }
  console.log(`confinement: ${count} calls, ${denied} denied, ${succeeded} succeeded, none outside`);
  expect(Math.min(denied, succeeded)).toBeGreaterThan(count / 20);
});

/** Swaps a directory for a link that leads outside, and back, as fast as it can. */
const swapper = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const [directory, hidden, outside] = process.argv.slice(1);
  process.stdout.write("on");
  for (;;) {
    try { renameSync(directory, hidden); } catch {}
    try { symlinkSync(outside, directory); } catch {}
    try { unlinkSync(directory); } catch {}
    try { renameSync(hidden, directory); } catch {}
  }`;

test("links swapped in while the tools run lead nowhere", { timeout: suiteTimeout }, async (context) => {
  if (process.platform !== "linux") context.skip("the descriptor's real path is only known on Linux");
  build();
  mkdirSync(join(root, "other"));
  const before = snapshot(outside, true);
  const racer = spawn(process.execPath, ["-e", swapper, join(root, "dir"), join(root, ".hidden"), outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(racer.stdout, "data");
    const registry = tools();
    const calls: [string, Record<string, unknown>][] = [
      ["read_file", { path: "dir/file" }],
      ["read_file", { path: "dir/sub/file" }],
      ["write_file", { path: "dir/file", content: "written" }],
      ["write_file", { path: "dir/new/deep/file", content: "written" }],
      ["write_file", { path: "dir/sub/file", content: "written" }],
      ["edit_file", { path: "dir/sub/file", edits: [{ old_text: "e", new_text: "E", replace_all: true }] }],
      ["list_dir", { path: "dir/sub" }],
      ["mkdir", { path: "dir/made/in" }],
      ["remove", { path: "dir/sub/file" }],
      ["remove", { path: "dir/sub" }],
      ["remove", { path: "dir/new" }],
      ["move", { source: "dir/sub/file", destination: "other/file" }],
      ["move", { source: "other/file", destination: "dir/sub/file" }],
      ["move", { source: "dir/file", destination: "dir/sub/moved" }],
    ];
    let succeeded = 0;
    const count = rounds(100);
    for (let round = 0; round < count; round += 1) {
      for (const [tool, args] of calls) {
        const answer = await registry.execute(tool, args);
        expect(answer, tool).not.toContain(secret);
        if (!answer.startsWith("Error")) succeeded += 1;
      }
      expect(snapshot(outside, true)).toEqual(before);
    }
    console.log(`swapped links: ${count * calls.length} calls, ${succeeded} succeeded inside, none outside`);
    expect(succeeded).toBeGreaterThan(0);
  } finally {
    racer.kill("SIGKILL");
    await once(racer, "close");
  }
});
