import assert from "node:assert/strict";
import { walkSchema } from "./arguments/schemaParts.ts";
import type { ExecutableTool, JsonSchema, ToolOutcome } from "./interface.ts";
import { isPlainObject } from "./json.ts";
import { ToolRegistry } from "./registry/registry.ts";

/** A runner's way to declare a test: `test` of vitest or node:test. */
export type DeclareTest = (name: string, run: () => Promise<void>) => unknown;

/** The facts about the tool under test that `testTool` needs. */
interface ToolUnderTest {
  /** Makes the tool anew; called for each check. */
  create: () => ExecutableTool | Promise<ExecutableTool>;
  /** Arguments of a call that succeeds; called for each check, so it may prepare files. */
  validArgs: () => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Most bytes an output may have. Default 1 MB. */
  maxOutputBytes?: number;
  /** Milliseconds within which every call has to end after an abort. Default 60,000. */
  settleMs?: number;
}

/** Ends a check that hangs; it does not judge how fast a tool is. */
const settleLimitMs = 60_000;

type Check = (subject: ToolUnderTest) => Promise<void>;

/** The checks by name: what every well-made tool keeps. Each throws an AssertionError where the tool does not. */
const toolChecks: Readonly<Record<string, Check>> = {
  "is accepted by a registry": async (subject) => {
    const { registry, name } = await open(subject);
    assert.deepEqual(registry.getToolNames(), [name]);
  },
  "has a schema that is the same, byte for byte, each time": async (subject) => {
    const [first, second] = [await subject.create(), await subject.create()];
    assert.equal(JSON.stringify(first.getSchema()), JSON.stringify(first.getSchema()));
    assert.equal(JSON.stringify(first.getSchema()), JSON.stringify(second.getSchema()));
  },
  "has a closed schema: every object says additionalProperties false": async (subject) => {
    assertClosed((await subject.create()).getSchema().function.parameters);
  },
  "answers a valid call with text of bounded size": async (subject) => {
    const outcome = await invoke(subject, await subject.validArgs());
    assert.ok(outcome.ok, `the valid call failed: ${outcome.ok ? "" : outcome.error.message}`);
    assert.equal(typeof outcome.output, "string");
    assert.ok(Buffer.byteLength(outcome.output) <= (subject.maxOutputBytes ?? 2 ** 20), "the output is too large");
  },
  "gives the data that its outputSchema promises": async (subject) => {
    if ((await subject.create()).outputSchema === undefined) return;
    const outcome = await invoke(subject, await subject.validArgs());
    assert.ok(
      outcome.ok && outcome.data !== undefined,
      "the valid call gave no data, or some that does not fit outputSchema or is larger than 256 KB as JSON text",
    );
  },
  "says what a call would do, where it has effects": async (subject) => {
    const { registry, name, from } = await open(subject);
    let problem: unknown = "no guard was asked";
    registry.guard(({ effects, effectsError, tool }) => {
      problem = effects === undefined && tool.effects !== undefined ? effectsError : undefined;
      return "asked only";
    });
    await registry.check(name, await subject.validArgs(), from);
    assert.equal(problem, undefined);
  },
  "leaves the caller's arguments as they were": async (subject) => {
    const args = await subject.validArgs();
    const before = JSON.stringify(args);
    await invoke(subject, args);
    assert.equal(JSON.stringify(args), before);
  },
  "refuses a call without its required arguments": async (subject) => {
    const required = (await subject.create()).getSchema().function.parameters.required;
    if (!Array.isArray(required) || required.length === 0) return;
    assertInvalid(await invoke(subject, {}), String(required[0]));
  },
  "refuses an argument that it does not know, by name": async (subject) => {
    assertInvalid(await invoke(subject, { ...(await subject.validArgs()), surplus_argument: 1 }), "surplus_argument");
  },
  "answers hostile arguments with text, never with a rejection": async (subject) => {
    const valid = await subject.validArgs();
    const { registry, name, from } = await open(subject);
    for (const field of Object.keys(propertiesOf((await subject.create()).getSchema().function.parameters))) {
      for (const value of hostileValues) {
        const answer = await registry.execute(name, { ...valid, [field]: value }, { ...from, timeoutMs: 5000 });
        assert.equal(typeof answer, "string");
      }
    }
    for (const args of hostileValues) assert.equal(typeof (await registry.execute(name, args, from)), "string");
  },
  "does not run when the signal has fired before": async (subject) => {
    const outcome = await invoke(subject, await subject.validArgs(), { signal: AbortSignal.abort() });
    assert.equal(outcome.ok ? "ok" : outcome.error.code, "aborted");
  },
  "ends soon after an abort": async (subject) => {
    const controller = new AbortController();
    const running = invoke(subject, await subject.validArgs(), { signal: controller.signal });
    setImmediate(() => controller.abort());
    await within(running, subject.settleMs ?? settleLimitMs);
  },
  "ends by itself soon after an abort, called without a registry": async (subject) => {
    const controller = new AbortController();
    const tool = await subject.create();
    const running = tool.execute(await subject.validArgs(), { signal: controller.signal });
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    setImmediate(() => controller.abort());
    await within(ended, subject.settleMs ?? settleLimitMs);
  },
  "keeps a time limit of one millisecond or ends before it": async (subject) => {
    const outcome = await within(
      invoke(subject, await subject.validArgs(), { timeoutMs: 1 }),
      subject.settleMs ?? settleLimitMs,
    );
    assert.ok(outcome.ok || ["timeout", "execution_failed"].includes(outcome.error.code));
  },
  "serves ten calls at once": async (subject) => {
    const args = await subject.validArgs();
    const { registry, name, from } = await open(subject);
    const answers = await Promise.all(Array.from({ length: 10 }, () => registry.execute(name, args, from)));
    assert.ok(answers.every((answer) => typeof answer === "string"));
  },
};

/**
 * Declares one test for each of `toolChecks` with the runner's own `test`:
 * `testTool(test, { create: () => myTool, validArgs: () => ({ city: "Oslo" }) })`.
 */
export function testTool(test: DeclareTest, subject: ToolUnderTest): void {
  for (const [name, check] of Object.entries(toolChecks)) test(`a tool ${name}`, () => check(subject));
}

const hostileValues: readonly unknown[] = [
  undefined,
  null,
  "",
  " ",
  "\0",
  "../../../../../../etc/passwd\0.txt",
  "x".repeat(100_000),
  "\ud800",
  "$(id)`id`;id",
  0,
  -1,
  1.5,
  2 ** 31,
  Number.MAX_SAFE_INTEGER,
  Number.NaN,
  true,
  [],
  [[]],
  [null],
  ["", "\0"],
  {},
  { toString: null },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}'),
];

/** `from`: the options of a call by a caller that may make it. */
async function open(
  subject: ToolUnderTest,
): Promise<{ registry: ToolRegistry; name: string; from: { within?: string } }> {
  const tool = await subject.create();
  const registry = new ToolRegistry();
  registry.register(tool);
  const isForModel = tool.callers === undefined || tool.callers.includes("model");
  return { registry, name: tool.name, from: isForModel ? {} : { within: "program" } };
}

async function invoke(
  subject: ToolUnderTest,
  args: unknown,
  options: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<ToolOutcome> {
  const { registry, name, from } = await open(subject);
  return registry.invoke(name, args, { ...from, ...options });
}

function assertInvalid(outcome: ToolOutcome, field: string): void {
  assert.equal(outcome.ok ? "ok" : outcome.error.code, "invalid_arguments");
  if (!outcome.ok) assert.ok(outcome.error.message.includes(field), `the error does not name ${field}`);
}

function propertiesOf(schema: JsonSchema): Record<string, unknown> {
  return isPlainObject(schema.properties) ? schema.properties : {};
}

function assertClosed(parameters: JsonSchema): void {
  walkSchema(parameters, ({ type, additionalProperties }, at) => {
    // A map of free names (environment variables) says what its values are instead.
    const isOpen = type === "object" && additionalProperties !== false && !isPlainObject(additionalProperties);
    assert.ok(!isOpen, `parameters${at} lets unknown properties through`);
  });
}

async function within<T>(running: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `did not end within ${limitMs} ms` })),
      limitMs,
    );
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}
