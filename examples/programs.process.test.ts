import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerWith, compileCache, temporaryFolder, type WireReply, WireServer, writeIn } from "@toolcrib/testing";
import { expect, onTestFinished, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));

/** A program as a user starts it, with OpenAI's model played by a server on loopback. */
async function start(example: string, args: readonly string[], replies: readonly WireReply[], earlier?: WireServer) {
  const service = earlier ?? (await WireServer.start());
  service.script(...replies.map(answerWith));
  const child = spawn(process.execPath, ["main.ts", ...args], {
    cwd: join(here, example),
    env: {
      ...{ PATH: process.env.PATH, ...compileCache },
      ...{ OPENAI_API_KEY: "a key", OPENAI_BASE_URL: `${service.url}/v1`, PORT: "0" },
    },
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await service.close();
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (stdout += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (stderr += piece));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const soFar = (): string => {
    const end = child.exitCode ?? child.signalCode;
    return end === null ? stdout : `${stdout}[ended with ${end}: ${stderr}]`;
  };
  return {
    service,
    ended: async () => ({ status: await ended, stdout, stderr }),
    /** Types a line once the program shows this. */
    async answer(prompt: string, line: string): Promise<void> {
      await expect.poll(soFar).toContain(prompt);
      stdout = stdout.slice(stdout.indexOf(prompt) + prompt.length);
      child.stdin.write(`${line}\n`);
    },
    end: (input = "") => child.stdin.end(input),
    shown: async (pattern: RegExp): Promise<string> => {
      await expect.poll(soFar).toMatch(pattern);
      return pattern.exec(stdout)?.[0] ?? "";
    },
  };
}

const call = (name: string, args: object): WireReply => ({ calls: [{ name, args: JSON.stringify(args) }] });

const noModel = "No model: set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY.\n";
// web-chat has a stand-in.
const asking = readdirSync(here).filter(
  (name) => (existsSync(join(here, name, "model.ts")) && name !== "web-chat") || name === "ai-sdk",
);

test.each(asking)("%s: run as it is, without a key, says what to set", (example) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["main.ts"], {
    cwd: join(here, example),
    env: { PATH: process.env.PATH, ...compileCache },
    input: "",
    encoding: "utf8",
  });
  expect({ failed: status !== 0, stdout, stderr }).toEqual({ failed: true, stdout: "", stderr: noModel });
});

const finding = { file: "a.ts", line: 1, severity: "error", message: "Never ends." };
const wrong = [{ quote: "1 s", problem: "it takes 2 s", evidence: "a.ts:1" }];

interface Case {
  readonly says: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly input?: string;
  readonly replies: readonly WireReply[];
  readonly ends: { readonly status: number; readonly stdout: string; readonly stderr: string };
  /** Part of the second request. */
  readonly sends?: string;
}

const cases: Readonly<Record<string, Case>> = {
  "review-diff": {
    says: "prints annotations and fails the job for an error",
    input: "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-\n+for (;;);\n",
    replies: [call("final_answer", { findings: [finding] })],
    ends: { status: 1, stdout: "::error file=a.ts,line=1::Never ends.\n", stderr: "findings: 1\n" },
  },
  "log-investigator": {
    says: "the answer goes to standard output, the calls to standard error",
    files: { "a.log": "2026-11-22T02:01:10Z ERROR full\n" },
    args: ["Why?"],
    replies: [call("count_lines", { path: "a.log", text: "full" }), { text: "It was full." }],
    ends: { status: 0, stdout: "It was full.\n", stderr: 'count_lines {"path":"a.log","text":"full"}\n' },
    sends: "2026-11-22 02:01 1",
  },
  "team-skills": {
    says: "reads the skill, and prints the answer",
    args: ["Write the release notes."],
    replies: [call("read_skill", { name: "release-notes" }), { text: "# 2.0" }],
    ends: { status: 0, stdout: "# 2.0\n", stderr: 'read_skill {"name":"release-notes"}\n' },
    sends: "Group the others as",
  },
  delegate: {
    says: "prints what both agents do, and the answer of the writer",
    files: { "a.txt": "by hand\n" },
    args: ["Who refunds?"],
    replies: [
      call("ask_reader", { task: "Who?" }),
      call("read_file", { path: "a.txt" }),
      { text: "a.txt:1" },
      { text: "We do." },
    ],
    ends: { status: 0, stdout: "We do.\n", stderr: 'ask_reader: Who?\n  read_file {"path":"a.txt"}\n' },
  },
  "count-files": {
    says: "prints the program with its calls, and the answer",
    files: { "a.md": "heron" },
    args: ["How many?"],
    replies: [call("run_program", { code: 'return (await tools.read_file({ path: "a.md" })).text' }), { text: "One." }],
    ends: {
      status: 0,
      stdout: "One.\n",
      stderr: 'return (await tools.read_file({ path: "a.md" })).text\n  ✓ read_file\n',
    },
  },
  "docs-checker": {
    says: "prints what is wrong by line",
    files: { "node_modules/b.md": "# A\n\nIt takes 1 s.\n", "a.md": "# A\n\nIt takes 1 s.\n" },
    replies: [call("final_answer", { wrong })],
    ends: { status: 1, stdout: 'a.md:3: "1 s": it takes 2 s (a.ts:1)\n', stderr: "" },
  },
};

test.each(Object.entries(cases).map(([example, one]) => [example, one.says, one] as const))(
  "%s: %s",
  async (example, _says, { files = {}, args = [], input, replies, ends, sends = "" }) => {
    const root = temporaryFolder("example");
    for (const [path, text] of Object.entries(files)) writeIn(root, path, text);
    const program = await start(example, [root, ...args], replies);
    program.end(input);
    expect(await program.ended()).toEqual(ends);
    expect(program.service.requests.at(1)?.text ?? "").toContain(sends);
  },
);

test("many-repositories: what was asked in one run is answered and done in the next", async () => {
  const folder = temporaryFolder("example");
  mkdirSync(join(folder, "shop"));
  const write = call("write_file", { path: "a.txt", content: "a" });
  const first = await start("many-repositories", ["start", folder, "Write a.txt"], [write]);
  expect(await first.ended()).toMatchObject({ status: 0, stdout: "shop: 1 waiting\n", stderr: "" });
  const second = await start("many-repositories", ["answer", folder], [{ text: "Done." }], first.service);
  await second.answer("y/n ", "y");
  expect(await second.ended()).toMatchObject({ status: 0, stdout: expect.stringContaining("shop: Done."), stderr: "" });
  expect(readFileSync(join(folder, "shop/a.txt"), "utf8")).toBe("a");
});

test("permission-gate: asks on the terminal, and ends with the input", async () => {
  const root = temporaryFolder("example");
  const write = call("write_file", { path: "a.txt", content: "a" });
  const program = await start("permission-gate", [root], [write, { text: "Done." }]);
  await program.answer("> ", "Write a.txt");
  await program.answer("y to allow, or why not: ", "y");
  await program.shown(/Done\.\n> $/);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a");
  program.end();
  expect(await program.ended()).toMatchObject({ status: 0, stderr: "" });
});

test("ai-sdk: asks before a change, and prints the answer", async () => {
  const root = temporaryFolder("example");
  const write = call("write_file", { path: "a.txt", content: "a" });
  const program = await start("ai-sdk", [root, "Write a.txt"], [write, { text: "Done." }]);
  await program.answer("y/n ", "y");
  expect(await program.ended()).toMatchObject({ status: 0, stdout: expect.stringContaining("Done."), stderr: "" });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a");
});
