import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  answerWith,
  compileCache,
  jsonOf,
  type ProgramEnd,
  sharedWireServer,
  streamOf,
  temporaryFolder,
} from "@toolcrib/testing";
import { beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { bin, call, command, onTerminal } from "../../../fixtures/command.ts";

const wire = await sharedWireServer();
let folder = "";

beforeEach(() => {
  folder = join(temporaryFolder("scripting"), "work");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), "hello\n");
  writeFileSync(
    join(folder, "schema.json"),
    JSON.stringify({
      type: "array",
      items: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
    }),
  );
});

function start(args: readonly string[], input?: string): ReturnType<typeof command.start> {
  const env = { XDG_STATE_HOME: join(folder, "../state"), OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${wire.url}/v1` };
  return command.start(args, { cwd: folder, env, ...(input !== undefined && { input }) });
}

const toolcrib = (...given: Parameters<typeof start>): Promise<ProgramEnd> => start(...given).ended;

const run = (...flags: string[]): Promise<ProgramEnd> => toolcrib(["run", "hi", "-m", "openai/gpt-6-luna", ...flags]);

/** The last line of what was printed. */
const last = ({ stdout }: ProgramEnd): Record<string, unknown> =>
  JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>;

const files = [{ file: "a.txt" }];

describe("--output-format", () => {
  test.each(["json", "stream-json"])("%s ends with how the turn ended", async (format) => {
    wire.script(call("list_dir", { path: "." }), answerWith({ text: "One file." }));
    expect(last(await run("--output-format", format))).toMatchObject({
      type: "end",
      formatVersion: 1,
      ok: true,
      reason: "stop",
      text: "One file.",
      model: "openai/gpt-6-luna",
      usage: { inputTokens: 40 },
    });
  });

  test("each line of stream-json is an event of the schema, whatever happens", async () => {
    wire.script(
      jsonOf({ error: { message: "busy" } }, { status: 500 }),
      call("run_bash", { command: "echo one; sleep 0.3; echo two" }),
      call("write_file", { path: "b.txt", content: "x" }),
    );
    const end = await run(
      "--output-format",
      "stream-json",
      "--enable",
      "run_bash",
      "--allow",
      "run_bash",
      "--no-sandbox",
    );
    const lines = end.stdout.trimEnd().split("\n");
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    for (const type of ["step-start", "retry", "usage", "tool-call", "tool-progress", "tool-result", "end"])
      expect(types).toContain(type);
    expect(last(end)).toMatchObject({ ok: false, reason: "approval", pending: [{ name: "write_file" }] });
    expect(end.code).toBe(4);
  });

  test.each([
    [["run", "hi", "--bogus", "--output-format", "json"], /unknown option '--bogus'/],
    [["run", "hi", "--max-steps", "0", "--output-format", "stream-json"], /--max-steps 0/],
    [["rnu", "--output-format=json"], /unknown command 'rnu'/],
    [["run", "hi", "--output-format", "stream-json", "-m", "nobody"], /expected provider\/model/],
    [["run", "hi", "--output-format", "json", "--output-format", "xml"], /Allowed choices are text, json, stream-json/],
    [["tools", "call", "raed_file", "--json"], /no such tool/],
    [["tools", "list", "--json", "--root", "nowhere"], /no such directory/],
  ])("a mistake is one JSON object where JSON was asked for, its words on stderr too: %j", async (args, says) => {
    const { stdout, stderr, code } = await toolcrib(args);
    expect(stderr).toMatch(says);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    const { error, ...rest } = JSON.parse(stdout) as { error: object };
    expect(rest).toMatchObject({ type: "error", formatVersion: 1, ok: false });
    expect(error).toEqual({ code: "usage", message: expect.stringMatching(says) });
    expect(code).toBe(2);
  });

  test("a run names its session, which goes on by that name", async () => {
    wire.script(answerWith({ text: "One." }), answerWith({ text: "Two." }));
    const { sessionId } = last(await run("--output-format", "json"));
    expect(last(await run("--output-format", "stream-json", "-r", String(sessionId)))).toMatchObject({ sessionId });
    expect(wire.requests[1]?.text).toContain("One.");
  });

  test("words after -- are no flags", async () => {
    expect((await toolcrib(["rnu", "--", "--json"])).stdout).toBe("");
  });

  test("a failure of the model tells what the run has used so far", async () => {
    wire.script(call("list_dir", { path: "." }), jsonOf({ error: { message: "no" } }, { status: 400 }));
    const end = await run("--output-format", "json");
    expect(last(end)).toMatchObject({
      ok: false,
      error: { code: "invalid_request" },
      usage: { inputTokens: 20 },
      toolCalls: [{ name: "list_dir", isError: false }],
    });
    expect(end.code).toBe(3);
  });

  test.skipIf(process.platform === "win32").each(["stream-json", "text"])(
    "a reader of %s that has read enough ends the command quietly",
    async (format) => {
      const args = [bin, "run", "list .", "-m", "offline", "--output-format", format];
      const line = `${[process.execPath, ...args].map((word) => `'${word}'`).join(" ")} | head -1; echo "codes $\{PIPESTATUS[*]}"`;
      const shell = spawn("bash", ["-c", line], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...compileCache, XDG_STATE_HOME: join(folder, "../state") },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
      expect(stdout.split("\n")).toHaveLength(3);
      // Where all was written before the reader left, nothing was cut off.
      expect(stdout).toMatch(/codes (?:141|0) 0\n$/);
      expect(stderr).not.toMatch(/toolcrib: |^\s+at /m);
    },
  );
});

describe("--output-schema", () => {
  const schema = ["--output-schema", "schema.json"];

  test("the answer is one JSON value that fits, in text too, and nothing else is on stdout", async () => {
    wire.script(
      answerWith({ text: "Looking.", calls: [{ name: "list_dir", args: '{"path":"."}' }] }),
      call("final_answer", { value: [{ file: 1 }] }),
      call("final_answer", { value: files }),
    );
    const { stdout, code } = await run(...schema);
    expect(JSON.parse(stdout)).toEqual(files);
    expect(code).toBe(0);
    expect(wire.requests).toHaveLength(3);
  });

  test.each(["json", "stream-json"])("%s has it as output, also after a reminder, with one end", async (format) => {
    wire.script(answerWith({ text: "a.txt" }), call("final_answer", { value: files }));
    const end = await run(...schema, "--output-format", format);
    expect(last(end)).toMatchObject({ ok: true, output: files });
    expect(end.stdout.match(/"type":"end"/g)).toHaveLength(1);
    expect(wire.requests[1]?.body.tool_choice).toEqual({ type: "function", name: "final_answer" });
  });

  test("a model that keeps its answers to a schema gives it in that form", async () => {
    wire.script(answerWith({ text: "a.txt" }), answerWith({ text: JSON.stringify({ value: files }) }));
    const env = { XDG_STATE_HOME: join(folder, "../state"), OPENROUTER_API_KEY: "k" };
    const model = ["-m", "openrouter/anthropic/claude-sonnet-5.5", "--base-url", `${wire.url}/v1`];
    const { stdout, code } = await command(["run", "hi", ...model, ...schema], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual(files);
    expect(code).toBe(0);
    expect(wire.requests[1]?.body).toMatchObject({ response_format: { type: "json_schema" } });
    expect(JSON.stringify(wire.requests[1]?.body)).not.toContain("final_answer");
  });

  test("an answer that never fits is a failure in words: exit 1", async () => {
    wire.script(answerWith({ text: "a.txt" }), answerWith({ text: "a.txt, again" }));
    const end = await run(...schema, "--output-format", "json");
    expect(end.stderr).toMatch(/no value that fits --output-schema; try again/);
    expect(last(end)).toMatchObject({ ok: false, error: { code: "failed" } });
    expect(end.code).toBe(1);
  });

  test.each([
    ["nope.json", undefined, /--output-schema nope\.json: there is no such file/],
    [".", undefined, /--output-schema \.: it is a directory/],
    ["bad.json", "{", /--output-schema bad\.json is not valid JSON/],
    ["list.json", "[]", /--output-schema list\.json: expected a JSON Schema/],
    ["type.json", '{"type":"objekt"}', /--output-schema type\.json: .*not a JSON Schema type: "objekt"/],
    ["deep.json", "[".repeat(100_000) + "]".repeat(100_000), /--output-schema deep\.json: expected a JSON Schema/],
    ["nested.json", `${'{"not":'.repeat(20_000)}{}${"}".repeat(20_000)}`, /--output-schema nested\.json: /],
  ])("a file without a usable schema is refused before anything is sent: %s", async (name, content, says) => {
    if (content !== undefined) writeFileSync(join(folder, name), content);
    const { stderr, stdout, code } = await run("--output-schema", name);
    expect(stderr).toMatch(says);
    expect({ stdout, code }).toEqual({ stdout: "", code: 2 });
    expect(wire.requests).toEqual([]);
  });
});

describe("--max-cost", () => {
  test("ends the run once its replies have cost so much: exit 5", async () => {
    for (let replies = 0; replies < 5; replies += 1) wire.script(call("list_dir", { path: "." }));
    // 20 tokens in and 5 out cost 0.0000045 dollars at most.
    const end = await run("--max-cost", "0.000008", "--output-format", "json");
    expect(wire.requests).toHaveLength(2);
    expect(last(end)).toMatchObject({ ok: false, reason: "cost-limit" });
    expect(end.stderr).toMatch(/The cost limit was reached before the answer: .*raise --max-cost/);
    expect(end.code).toBe(5);
    // What an earlier run has cost does not count.
    wire.reset();
    wire.script(call("list_dir", { path: "." }), answerWith({ text: "Done." }));
    expect(await run("-c", "--max-cost", "0.000008")).toMatchObject({ code: 0, stdout: "Done.\n" });
  });

  test("an answer that is whole is not held back by what it has cost", async () => {
    wire.script(answerWith({ text: "Done." }));
    expect(await run("--max-cost", "0.000001")).toMatchObject({ code: 0, stdout: "Done.\n" });
  });

  test("a model whose price is not known is refused before anything is sent; the stand-in is free", async () => {
    const unknown = await toolcrib(["run", "hi", "-m", "openai/gpt-unheard-of", "--max-cost", "1"]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--max-cost: the price of openai\/gpt-unheard-of is not known/),
    });
    expect(wire.requests).toEqual([]);
    expect((await toolcrib(["run", "list .", "-m", "offline", "--max-cost", "0.01"])).code).toBe(0);
  });

  test("a reply that does not say what it has used is not counted as free: exit 5", async () => {
    wire.script((request) => {
      const answer = call("list_dir", { path: "." });
      const { chunks, ...rest } = typeof answer === "function" ? answer(request) : answer;
      return streamOf(
        chunks.map((chunk) => String(chunk).replace(/"usage":\{/, '"other":{')),
        rest,
      );
    });
    const end = await run("--max-cost", "1", "--output-format", "json");
    expect(last(end)).toMatchObject({ ok: false, reason: "cost-unknown" });
    expect(end.stderr).toMatch(/did not say what the last reply used/);
    expect(end.code).toBe(5);
    expect(wire.requests).toHaveLength(1);
  });

  test.each(["0", "-1", "1e9", "$1", ""])("%j is no amount", async (amount) => {
    expect(await run(`--max-cost=${amount}`)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/expected dollars/),
    });
  });
});

describe("--timeout", () => {
  const hour = ["--timeout", "1h"];
  let timers: MockInstance<typeof setTimeout>;
  beforeEach(() => {
    timers = vi.spyOn(globalThis, "setTimeout");
    return () => timers.mockRestore();
  });
  const endHour = (): void => timers.mock.calls.find(([, ms]) => ms === 3_600_000)?.[0]();
  const allowed = ["--enable", "run_bash", "--allow", "run_bash", "--no-sandbox"];

  test.skipIf(process.platform !== "linux")(
    "ends what runs, keeps the conversation whole, and says how to go on: exit 5",
    async () => {
      wire.script(call("run_bash", { command: "echo $$ > pid; exec sleep 600" }));
      const running = run(...hour, "--output-format", "json", ...allowed);
      const file = join(folder, "pid");
      await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
      endHour();
      const end = await running;
      expect(last(end)).toMatchObject({
        ok: false,
        reason: "time-limit",
        toolCalls: [{ name: "run_bash", isError: true }],
      });
      expect(end.stderr).toMatch(/The time limit was reached before the answer: continue with toolcrib run -c/);
      expect(end.code).toBe(5);
      const pid = readFileSync(file, "utf8").trim();
      await expect.poll(() => existsSync(`/proc/${pid}/cmdline`)).toBe(false);
      const sessions = join(folder, "../state/toolcrib/sessions");
      const [own = ""] = readdirSync(sessions);
      const [journal = ""] = readdirSync(join(sessions, own)).filter((name) => name.endsWith(".jsonl"));
      const lines = readFileSync(join(sessions, own, journal), "utf8")
        .trimEnd()
        .split("\n");
      expect(() => lines.map((line) => JSON.parse(line) as unknown)).not.toThrow();
      wire.script(answerWith({ text: "Going on." }));
      expect(await run("-c")).toMatchObject({ code: 0, stdout: "Going on.\n" });
      expect(wire.problems()).toEqual([]);
    },
  );

  test("takes an open question off the screen, which stays open for later", async () => {
    const args = ["run", "write hi to b.txt", "-m", "offline", ...hour];
    const env = { XDG_STATE_HOME: join(folder, "../state") };
    const program = onTerminal(args, { cwd: folder, env });
    await program.shows(/b\.txt[\s\S]*then Enter:$/);
    endHour();
    await program.shows(/The time limit was reached before the answer/);
    expect(await program.ended).toBe(5);
    expect(existsSync(join(folder, "b.txt"))).toBe(false);
    // A message in place of an answer is a no to what was still open.
    const next = await toolcrib(["run", "list .", "-m", "offline", "-c", "--output-format", "stream-json"]);
    expect(next.stdout).toMatch(/^\{"type":"tool-result",[^\n]*"name":"write_file",[^\n]*"isError":true/m);
    expect(next.code).toBe(0);
  });

  test("a model that says nothing more is given up: what it has said is kept", async () => {
    wire.script((request) => {
      const answer = answerWith({ text: "The beginning" });
      const { chunks, ...rest } = typeof answer === "function" ? answer(request) : answer;
      return { ...rest, chunks: chunks.slice(0, -3), end: "hang" };
    });
    const running = start(["run", "hi", "-m", "openai/gpt-6-luna", ...hour, "--output-format", "stream-json"]);
    await running.printed("The");
    endHour();
    const end = await running.ended;
    expect(last(end)).toMatchObject({ reason: "time-limit", text: expect.stringMatching(/^The/) });
    expect(end.code).toBe(5);
  });

  test("holds for a standard input that never ends, too", async () => {
    const end = await toolcrib(["run", "-m", "offline", "--timeout", "200ms", "--output-format", "json"], "open");
    expect(last(end)).toMatchObject({ error: { code: "limit", message: expect.stringMatching(/time limit/) } });
    expect(end.code).toBe(5);
  });

  test.each(["90", "5 m", "0s", "1d", "597h"])("%j is no duration", async (value) => {
    const says = expect.stringMatching(/--timeout .*: expected a number with a unit, such as 90s, 5m or 2h/);
    expect(await run("--timeout", value)).toMatchObject({ code: 2, stderr: says });
  });
});
