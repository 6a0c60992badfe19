import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { createFsTools } from "@toolcrib/tools-fs";
import { afterAll, expect, test } from "vitest";
import { createRandom, type Random, suiteSeed } from "../random.ts";
import { suiteTimeout } from "./child.ts";

const seeds = 20;
const operations = Number(process.env.TOOLCRIB_ROUNDS) || 100;
const base = realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "model-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A directory is null, a file its text; keys are paths below the working directory, "" being itself. */
type Model = Map<string, string | null>;
type Outcome = { ok: true; output?: string } | { ok: false };

const failed: Outcome = { ok: false };
const done: Outcome = { ok: true };

function parentOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

function below(model: Model, path: string): string[] {
  return [...model.keys()].filter((key) => key === path || key.startsWith(`${path}/`));
}

/** Makes the missing directories up to `path`; false where a file is in the way. */
function makeParents(model: Model, path: string): boolean {
  const names = path === "" ? [] : path.split("/");
  const steps = names.map((_, index) => names.slice(0, index + 1).join("/"));
  if (steps.some((step) => typeof model.get(step) === "string")) return false;
  for (const step of steps) model.set(step, null);
  return true;
}

function write(model: Model, path: string, content: string): Outcome {
  if (model.get(path) === null || !makeParents(model, parentOf(path))) return failed;
  model.set(path, content);
  return done;
}

function edit(model: Model, path: string, oldText: string, newText: string): Outcome {
  const text = model.get(path);
  if (typeof text !== "string" || text.split(oldText).length !== 2 || oldText === newText) return failed;
  model.set(
    path,
    text.replace(oldText, () => newText),
  );
  return done;
}

function list(model: Model, path: string): Outcome {
  if (model.get(path) !== null) return failed;
  const names = [...model.keys()].filter((key) => key !== "" && parentOf(key) === path);
  const lines = names
    .sort()
    .map((key) => `${key.slice(path === "" ? 0 : path.length + 1)}${model.get(key) === null ? "/" : ""}`);
  return { ok: true, output: lines.join("\n") || "(empty directory)" };
}

function remove(model: Model, path: string): Outcome {
  if (path === "") return failed;
  for (const key of below(model, path)) model.delete(key);
  return done;
}

function move(model: Model, from: string, to: string): Outcome {
  const isProtected = from === "";
  const intoItself = to === from || to.startsWith(`${from}/`);
  if (isProtected || !model.has(from) || model.has(to) || intoItself) return failed;
  if (!makeParents(model, parentOf(to))) return failed;
  for (const key of below(model, from)) {
    model.set(to + key.slice(from.length), model.get(key) as string | null);
    model.delete(key);
  }
  return done;
}

/** Few names, so that operations meet. Each path is spelt in one of several ways. */
function randomPath(random: Random): { path: string; spelled: string } {
  const path = Array.from({ length: 1 + random(3) }, () => ["a", "b", "c", "D"][random(4)]).join("/");
  const spellings = [path, `./${path}`, path.replaceAll("/", "//"), path.replace("/", "/./")];
  return random(40) === 0 ? { path: "", spelled: "." } : { path, spelled: spellings[random(4)] as string };
}

function step(
  model: Model,
  random: Random,
  count: number,
): { tool: string; args: Record<string, unknown>; expected: Outcome } {
  const { path, spelled } = randomPath(random);
  const content = `${count} some text ${random(3)}\n`.repeat(random(4));
  const texts = ["some", "text 1\n", `${count - 1}`, "missing"];
  switch (random(8)) {
    case 0:
    case 1:
      return { tool: "write_file", args: { path: spelled, content }, expected: write(model, path, content) };
    case 2: {
      const text = model.get(path);
      return {
        tool: "read_file",
        args: { path: spelled },
        expected: typeof text === "string" ? { ok: true, output: text } : failed,
      };
    }
    case 3: {
      const [old_text, new_text] = [texts[random(4)] as string, `new ${random(5)}`];
      return {
        tool: "edit_file",
        args: { path: spelled, edits: [{ old_text, new_text }] },
        expected: edit(model, path, old_text, new_text),
      };
    }
    case 4:
      return { tool: "list_dir", args: { path: spelled }, expected: list(model, path) };
    case 5:
      return { tool: "mkdir", args: { path: spelled }, expected: makeParents(model, path) ? done : failed };
    case 6:
      return { tool: "remove", args: { path: spelled }, expected: remove(model, path) };
    default: {
      const to = randomPath(random);
      return { tool: "move", args: { source: spelled, destination: to.spelled }, expected: move(model, path, to.path) };
    }
  }
}

function onDisk(directory: string): Model {
  const model: Model = new Map([["", null]]);
  for (const name of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, name);
    model.set(name, lstatSync(path).isDirectory() ? null : readFileSync(path, "utf8"));
  }
  return model;
}

const sorted = (model: Model): [string, string | null][] => [...model].sort(([a], [b]) => (a < b ? -1 : 1));

test.each(Array.from({ length: seeds }, (_, index) => suiteSeed + index))(
  "seed %i: the tools do to the disk what a plain model does in memory",
  async (seed) => {
    const cwd = join(base, `${seed}`);
    mkdirSync(cwd);
    const registry = new ToolRegistry();
    for (const tool of createFsTools({ cwd, root: cwd })) registry.register(tool);
    const random = createRandom(seed);
    const model: Model = new Map([["", null]]);
    for (let count = 0; count < operations; count += 1) {
      const { tool, args, expected } = step(model, random, count);
      const outcome = await registry.invoke(tool, args);
      const told = `${count}: ${tool} ${JSON.stringify(args)}: ${outcome.ok ? outcome.output : outcome.error.message}`;
      expect(outcome.ok, told).toBe(expected.ok);
      if (outcome.ok && expected.ok && expected.output !== undefined)
        expect(outcome.output, told).toBe(expected.output);
      if (count % 10 === 0 || count === operations - 1) expect(sorted(onDisk(cwd)), told).toEqual(sorted(model));
    }
  },
  suiteTimeout,
);
