import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";

import type { GuardedCall } from "@toolcrib/core";
import { answerWith, type ProgramEnd, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { homeFor, modelAt } from "../../fixtures/command.ts";
import { Hooks } from "./hooks.ts";

const work = homeFor("hooks");
const wire = await sharedWireServer();
const write = { name: "write_file", args: JSON.stringify({ path: "a.txt", content: "x\n" }) };

const configure = (hooks: object): string => work.write("config/toolcrib/config.json", JSON.stringify({ hooks }));
const toolcrib = (args: readonly string[]): Promise<ProgramEnd> => work.toolcrib(args, { env: { SHELL: "/bin/sh" } });

const run = (...more: string[]): Promise<ProgramEnd> => {
  wire.script(answerWith({ calls: [write] }), answerWith({ text: "Done." }));
  return toolcrib(["run", "write", "--mode", "full", ...modelAt(wire), ...more]);
};
/** The result that the model was sent. */
const result = (): string => {
  const messages = (wire.requests.at(-1)?.body.messages ?? []) as { role: string; content: string }[];
  return messages.findLast(({ role }) => role === "tool")?.content ?? "";
};

const place = { cwd: tmpdir(), host: process, note: (text: string) => expect.unreachable(text) };

describe("a hook before a call", () => {
  test("gets the call as it will run on its standard input, and lets it run by exit code 0", async () => {
    configure({ beforeCall: [{ tools: ["write_*"], command: "cat > seen.json" }] });
    expect((await run()).code).toBe(0);
    expect(JSON.parse(readFileSync(work.at("seen.json"), "utf8"))).toEqual({
      event: "beforeCall",
      tool: "write_file",
      args: { path: "a.txt", content: "x\n" },
      cwd: work.folder,
    });
    expect(existsSync(work.at("a.txt"))).toBe(true);
  });

  test("denies it by exit code 2, in the words of its standard error", async () => {
    configure({ beforeCall: [{ command: "echo out; echo 'only in \u001b[31mspring\u0007' >&2; exit 2" }] });
    const { stdout, stderr, code } = await run();
    expect(result()).toBe("Error executing write_file: Permission denied: only in [31mspring");
    expect(stderr).toContain("only in [31mspring");
    expect(stdout + stderr).not.toMatch(/\u001b\[31m|\u0007|\bout\b/);
    expect(existsSync(work.at("a.txt"))).toBe(false);
    expect(code).toBe(4);
  });

  test.each([
    ["exit 3", "1m", "ended with 3"],
    ["kill -9 $$", "1m", "was ended by SIGKILL"],
    ["/no/such/program", "1m", "ended with 127"],
    ["trap '' TERM INT HUP; sleep 600 & wait; sleep 600", "300ms", "did not end within 300ms"],
  ])("%s with the limit %s refuses it and names the hook", async (line, timeout, how) => {
    configure({ beforeCall: [{ command: line, timeout }] });
    expect((await run()).code).toBe(4);
    expect(result()).toContain(`Permission denied: the hook \`${line}\` ${how}`);
    expect(result()).toContain("so the call is refused");
    expect(existsSync(work.at("a.txt"))).toBe(false);
  });

  test("may print without end: it is ended at its limit, with all that it has started", async () => {
    // One that prints would end with the pipe that it prints to.
    const words = `sleep 600.${randomInt(2 ** 40)}`;
    configure({ beforeCall: [{ command: `(${words} & yes >&2 & yes)`, timeout: "500ms" }] });
    expect((await run()).code).toBe(4);
    expect(result()).toContain("did not end within 500ms");
    expect(result().length).toBeLessThan(1000);
    await expect.poll(() => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(words);
    configure({ beforeCall: [{ command: "head -c 20000000 /dev/zero" }] });
    expect((await run()).code).toBe(0);
  });

  test("is not asked about other tools, nor about what a rule denies", async () => {
    configure({ beforeCall: [{ tools: ["read_file"], command: "touch asked; exit 2" }, { command: "touch asked" }] });
    await run("--deny", "write_file");
    expect(existsSync(work.at("asked"))).toBe(false);
    configure({ beforeCall: [{ tools: ["read_file"], command: "exit 2" }] });
    expect((await run()).code).toBe(0);
    expect(existsSync(work.at("a.txt"))).toBe(true);
  });

  test("is started for no call of the program's own, such as a completion, and for none that was ended", async () => {
    const hooks = new Hooks({ "hooks.beforeCall": [{ command: `touch ${work.at("started")}; exit 2` }] }, place);
    const call = { name: "list_dir", args: {} } as unknown as GuardedCall;
    expect(await hooks.decide(call)).toBe(true);
    expect(await hooks.decide({ ...call, callId: "1", signal: AbortSignal.abort() })).not.toBe(true);
    expect(existsSync(work.at("started"))).toBe(false);
    expect(await hooks.decide({ ...call, callId: "1" })).toBe(
      `the hook \`touch ${work.at("started")}; exit 2\` denied it`,
    );
  });

  test("of a tool that is not there is an error, since it would never run", async () => {
    configure({ beforeCall: [{ tools: ["wirte_file"], command: "exit 2" }] });
    const { stderr, code } = await run();
    expect(stderr).toContain("hooks: there is no tool wirte_file");
    expect(code).toBe(2);
  });
});

test("a hook after a call gets its result, and its words are added for the model by exit code 2 alone", async () => {
  configure({
    afterCall: [
      { command: "cat > after.json; echo 'format it' >&2; exit 2" },
      { command: "echo quiet >&2" },
      { command: "echo broken >&2; exit 1" },
    ],
  });
  const { stderr, code } = await run();
  expect(code).toBe(0);
  expect(result()).toBe("Created a.txt (2 bytes)\n\n[a hook of the user says: format it]");
  expect(JSON.parse(readFileSync(work.at("after.json"), "utf8"))).toMatchObject({
    event: "afterCall",
    args: { path: "a.txt" },
    output: "Created a.txt (2 bytes)",
    isError: false,
  });
  expect(stderr).toContain("the hook `echo broken >&2; exit 1` ended with 1 (broken).");
  expect(stderr).not.toContain("quiet");
});

test("a hook at the end of a turn gets the reason, and its words are shown by exit code 2", async () => {
  configure({ turnEnd: [{ command: "cat > end.json; echo 'tests are red' >&2; exit 2" }] });
  const { stderr, stdout, code } = await run();
  expect(JSON.parse(readFileSync(work.at("end.json"), "utf8"))).toEqual({
    event: "turnEnd",
    reason: "stop",
    cwd: work.folder,
  });
  expect(stderr).toContain("tests are red");
  expect(stdout).toBe("Done.\n");
  expect(code).toBe(0);
});

describe("hooks of a project", () => {
  const project = (hooks: object): void => writeFileSync(work.at(".toolcrib.json"), JSON.stringify({ hooks }));

  test("run only once the project is trusted, and are asked about again when a line changes", async () => {
    configure({});
    project({ beforeCall: [{ command: "touch ran" }] });
    expect((await run()).stderr).toContain(".toolcrib.json is not used");
    expect(existsSync(work.at("ran"))).toBe(false);
    const { stderr } = await toolcrib(["config", "trust"]);
    expect(stderr).toContain('! hooks.beforeCall: [{"command":"touch ran"}] (these commands run with all your rights');
    await run();
    expect(existsSync(work.at("ran"))).toBe(true);
    project({ beforeCall: [{ command: "touch changed" }] });
    expect((await run()).stderr).toContain("it has changed since you were asked");
    expect(existsSync(work.at("changed"))).toBe(false);
  });

  test("are bound to what they run in .toolcrib/hooks", async () => {
    configure({});
    work.write("work/.toolcrib/hooks/check.sh", "touch ran\n");
    project({ beforeCall: [{ command: "sh .toolcrib/hooks/check.sh" }] });
    expect((await toolcrib(["config", "trust"])).stderr).toContain('! .toolcrib/hooks/check.sh: "touch ran"');
    await run();
    expect(existsSync(work.at("ran"))).toBe(true);
    writeFileSync(work.at(".toolcrib/hooks/check.sh"), "touch changed\n");
    expect((await run()).stderr).toContain("it has changed since you were asked");
    expect(existsSync(work.at("changed"))).toBe(false);
  });

  test("are no hooks where a key is wrong", async () => {
    configure({ beforeCall: [{ comand: "exit 2" }] });
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("config.json:1: hooks.beforeCall[0]"),
    });
  });
});
