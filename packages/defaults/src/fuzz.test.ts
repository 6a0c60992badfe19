import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolRegistry } from "@toolcrib/core";
import { sharedFolder, watchLoop } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createDefaultToolRegistry } from "./factory.ts";

/** 400 calls in an ordinary run; `npm run test:fuzz` makes it 100,000. */
const calls = Number(process.env.TOOLCRIB_FUZZ ?? 400);
/**
 * Processor time of this thread between two turns of the event loop. The promise is about time, and any code may break it, so no steps of
 * ours can be counted instead; what other programs and threads use, and pauses that they force, are not in it.
 */
const mostProcessorMs = 200;

const outside = sharedFolder("fuzz");
let root: string;

beforeAll(() => {
  root = join(outside, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  writeFileSync(join(outside, "guarded.txt"), "guarded");
});

const path = fc.oneof(
  fc.constantFrom(
    "a.txt",
    "sub",
    "sub/x.txt",
    ".",
    "..",
    "../guarded.txt",
    "/",
    "~",
    "",
    "a.txt/",
    "sub/../a.txt",
    "\0",
  ),
  fc.string({ maxLength: 20 }),
);
const anything = fc.oneof(path, fc.jsonValue({ maxDepth: 3 }), fc.double(), fc.integer(), fc.constant(undefined));
const plausible: Record<string, fc.Arbitrary<unknown>> = {
  path,
  source: path,
  destination: path,
  cwd: path,
  paths: fc.array(path, { maxLength: 3 }),
  content: fc.string(),
  query: fc.oneof(fc.string(), fc.constantFrom("o", "(a+)+$", "[")),
  pattern: fc.oneof(fc.string(), fc.constantFrom("**/*", "{a,b}*", "../*", "[")),
  reason: fc.string(),
  regex: fc.boolean(),
  offset: fc.integer({ min: -1, max: 5 }),
  limit: fc.integer({ min: -1, max: 5 }),
  max_results: fc.integer({ min: 0, max: 3 }),
};

/** Mostly plausible arguments; sometimes with unknown names, or not an object. */
function argsOf(tool: string, registry: ToolRegistry): fc.Arbitrary<unknown> {
  const properties = registry.get(tool)?.getSchema().function.parameters.properties ?? {};
  const own = Object.fromEntries(
    Object.keys(properties).map((name) => [
      name,
      fc.oneof({ weight: 4, arbitrary: plausible[name] ?? anything }, anything),
    ]),
  );
  const strangers = fc.dictionary(fc.constantFrom("__proto__", "constructor", "x", ""), anything, { maxKeys: 2 });
  return fc.oneof(
    { weight: 6, arbitrary: fc.record(own, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.tuple(fc.record(own), strangers).map(([a, b]) => ({ ...a, ...b })) },
    { weight: 1, arbitrary: anything },
  );
}

// Commands are from a list: a random one would be run.
const shellArgs = fc.record(
  { command: fc.constantFrom("true", "echo x", "exit 3", ""), cwd: anything, env: anything, timeout: anything },
  { requiredKeys: [] },
);

test(`${calls} fuzzed calls: no rejection, nothing but strings, no turn of 200 ms of processor time, nothing outside the root`, async () => {
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: join(root, "session.json") };
  const registry = createDefaultToolRegistry(context, { root, enable: ["remove", "run_bash"] });
  const names = registry.getToolNames();
  let succeeded = 0;
  const call = fc
    .constantFrom(...names, "unknown", "__proto__")
    .chain((name) =>
      fc.record({ name: fc.constant(name), given: name === "run_bash" ? shellArgs : argsOf(name, registry) }),
    );
  const loop = watchLoop();
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 20 }), async (batch) => {
      const answers = await Promise.all(
        batch.map(({ name, given }) =>
          registry.execute(name, given, { timeoutMs: 5000, onOutcome: ({ ok }) => (succeeded += Number(ok)) }),
        ),
      );
      for (const answer of answers) expect(typeof answer).toBe("string");
    }),
    { numRuns: Math.ceil(calls / 20), endOnFailure: true },
  );
  const longest = loop.stop();
  // Otherwise the arguments were too random to reach the tools.
  expect(succeeded).toBeGreaterThan(calls / 20);
  expect(longest).toBeLessThan(mostProcessorMs);
  expect(readFileSync(join(outside, "guarded.txt"), "utf8")).toBe("guarded");
  expect(readdirSync(outside).sort()).toEqual(["guarded.txt", "root"]);
  expect(({} as Record<string, unknown>).polluted).toBe(undefined);
}, 900_000);
