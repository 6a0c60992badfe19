import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith, type ProgramEnd, sharedFolder, sharedWireServer, startProgram, streamOf } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { bin, call, command, modelAt } from "../../fixtures/command.ts";
import { catchInterrupts } from "./interrupts.ts";

const folder = sharedFolder("interrupts");
const wire = await sharedWireServer();

const options = { cwd: folder, env: { XDG_STATE_HOME: join(folder, "state") } };

function toolcrib(args: readonly string[], input?: string): ReturnType<typeof command.start> {
  return command.start(args, { ...options, ...(input !== undefined && { input }) });
}

/** Not in the sandbox: there the system ends what is left. */
const shell = ["--enable", "run_bash", "--no-sandbox"];
const model = (): string[] => [...modelAt(wire), ...shell];

/** A model that runs a command. */
function runsCommand(command: string): void {
  wire.script(call("run_bash", { command }));
}

function isRunning(command: string): boolean {
  const words = command.replace(" ", "\0");
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(words);
    } catch {
      return false;
    }
  });
}

/** Killed processes take a moment to be gone; the test's time limit is the bound. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

let count = 60_000;
/** A number of seconds that no other process sleeps. */
function longSleep(): string {
  count += 1;
  return `sleep ${count}.${process.pid}`;
}

describe.skipIf(process.platform !== "linux")("Ctrl-C", () => {
  test("during tools call ends the tool and its processes; exit 130", async () => {
    const [front, back] = [longSleep(), longSleep()];
    const args = ["tools", "call", "run_bash", ...shell, "--command", `${back} & ${front}; :`];
    const program = startProgram(bin, args, options);
    await until(() => isRunning(front));
    program.child.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, stdout: "" });
    await until(() => !isRunning(front) && !isRunning(back));
  });

  test("during run ends the request, says so, and leaves nothing running; exit 130", async () => {
    const command = longSleep();
    runsCommand(`${command}; :`);
    const program = toolcrib(["run", "wait", ...model()]);
    await until(() => isRunning(command));
    program.signal("SIGINT");
    const { code, stderr } = await program.ended;
    expect(stderr).toMatch(/Ending the request; Ctrl-C again ends the program\.[\s\S]*toolcrib: Interrupted\.\n$/);
    expect(code).toBe(130);
    await until(() => !isRunning(command));
  });

  test("while the model sends nothing ends the request too", async () => {
    wire.script(streamOf([], { end: "hang" }));
    const program = toolcrib(["run", "wait", ...model()]);
    await until(() => wire.requests.length === 1);
    program.signal("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130 });
  });

  test("while nothing runs yet ends the program", async () => {
    const program = toolcrib(["run", "-m", "offline"], "open");
    await until(() => program.signal("SIGINT"));
    expect(await program.ended).toMatchObject({ code: 130 });
  });

  test("in chat ends the request and the conversation goes on", async () => {
    const command = longSleep();
    runsCommand(`${command}; :`);
    wire.script(answerWith({ text: "Still here." }));
    const program = toolcrib(["chat", ...model()], "open");
    program.stdin.write("wait\n");
    await until(() => isRunning(command));
    program.signal("SIGINT");
    await program.printed("Interrupted.");
    program.stdin.end("are you there?\n");
    expect(await program.ended).toMatchObject({ code: 0, stdout: "Still here.\n" });
    await until(() => !isRunning(command));
    expect(wire.problems()).toEqual([]);
  });

  test("a command that a finished run left in the background ends with the program", async () => {
    const command = longSleep();
    runsCommand(`${command} & echo started`);
    wire.script(answerWith({ text: "done" }));
    expect(await toolcrib(["run", "start it", ...model()]).ended).toMatchObject({ code: 0, stdout: "done\n" });
    await until(() => !isRunning(command));
  });

  test("SIGTERM leaves nothing running either", async () => {
    const command = longSleep();
    const args = ["tools", "call", "run_bash", ...shell, "--command", `${command}; :`];
    const program = startProgram(bin, args, options);
    await until(() => isRunning(command));
    program.child.kill("SIGTERM");
    expect((await program.ended).code).toBe(143);
    await until(() => !isRunning(command));
  });
});

test("the second Ctrl-C ends the program when the request does not end at the first", async () => {
  const said: string[] = [];
  const interrupts = catchInterrupts(
    new EventEmitter(),
    () => said.push("ending the request"),
    (signal) => said.push(`ended by ${signal}`),
  );
  let aborted = false;
  void interrupts.during((signal) => {
    signal.addEventListener("abort", () => {
      aborted = true;
    });
    return new Promise(() => {});
  });
  interrupts.interrupt();
  expect({ said, aborted }).toEqual({ said: ["ending the request"], aborted: true });
  interrupts.interrupt();
  expect(said.at(-1)).toBe("ended by SIGINT");
});

test("after a kill during a tool, -c continues the conversation and says what may have run", async () => {
  wire.script(call("run_bash", { command: "echo begun; sleep 2" }), answerWith({ text: "It may have run." }));
  const options = { cwd: folder, env: { XDG_STATE_HOME: join(folder, "killed-state") } };
  const killed = startProgram(bin, ["run", "begin", ...model()], options);
  await killed.printed("→ run_bash");
  const [own = ""] = readdirSync(join(folder, "killed-state", "toolcrib", "sessions"));
  const sessions = join(folder, "killed-state", "toolcrib", "sessions", own);
  await until(() => readFileSync(join(sessions, readdirSync(sessions)[0] ?? ""), "utf8").includes("tool-start"));
  killed.child.kill("SIGKILL");
  await killed.ended;
  const { stdout, code } = await command(["run", "what became of it?", "-c", ...model()], options);
  expect({ stdout, code }).toEqual({ stdout: "It may have run.\n", code: 0 });
  const { messages } = (wire.requests.at(-1)?.body ?? {}) as unknown as {
    messages: { role: string; content: string }[];
  };
  expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
    "Error executing run_bash: Interrupted; may have run",
  ]);
});

describe("toolcrib chat", () => {
  const chat = (input: string, state = join(folder, "state")): Promise<ProgramEnd> =>
    command(["chat", ...model()], { cwd: folder, env: { XDG_STATE_HOME: state }, input });

  test("answers line by line, with its commands, and remembers until /clear", async () => {
    wire.script(answerWith({ text: "First." }), answerWith({ text: "Second." }), answerWith({ text: "Third." }));
    const lines = [
      "/help",
      "one",
      "two",
      "/clear",
      "three",
      "/tools disable write_file",
      "/tools",
      "/modle",
      "/model",
      "/cost",
      "/new",
      "?",
      "/quit",
      "four",
    ];
    const { code, stdout, stderr } = await chat(`${lines.join("\n")}\n`);
    expect(stdout).toBe("First.\nSecond.\nThird.\n");
    expect(code).toBe(0);
    const users = wire.requests.map(
      ({ body }) => (body.messages as { role: string }[]).filter(({ role }) => role === "user").length,
    );
    expect(users).toEqual([1, 2, 1]);
    expect(stderr).toMatch(/\/clear .*\/model .*\/tools .*\/help .*\/quit/s);
    expect(stderr).toMatch(/off {2}write_file\n/);
    expect(stderr).toMatch(/There is no command \/cost; did you mean \/stats\? \/help lists them\.\n/);
    expect(stderr).toMatch(/There is no command \/new; did you mean \/clear\?/);
    expect(stderr.match(/this list/g)).toHaveLength(2);
    expect(stderr).toMatch(/There is no command \/modle; did you mean \/model\?/);
    expect(stderr).toMatch(/\nopenai-compatible\/m\n/);
  });

  test("/resume lists the directory's conversations and continues one; /stats and /compact answer", async () => {
    const before = [answerWith({ text: "Wren." }), answerWith({ text: "Heron." })];
    wire.script(...before, answerWith({ text: "Wren again." }), answerWith({ text: "Birds." }));
    const state = join(folder, "resume-state");
    await chat("about birds\n", state);
    const { stdout, stderr } = await chat(
      "about fish\n/resume\n/resume 2\n/resume 9\n/stats\nwhich bird\n/compact\n",
      state,
    );
    expect(stdout).toBe("Heron.\nWren again.\n");
    expect(stderr).toMatch(/ 1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}about fish {2}\(this one\)\n {2}2 .* about birds\n/);
    expect(stderr).toMatch(/Continuing .*about birds: 2 messages/);
    expect(stderr).toMatch(/no conversation 9.*1 to 2/);
    expect(stderr).toMatch(/2 messages; tokens: /);
    expect(stderr).toMatch(/A summary now replaces [1-9]\d* messages\./);
    const { messages } = (wire.requests.at(-2)?.body ?? {}) as unknown as {
      messages: { role: string; content: string }[];
    };
    expect(messages.map(({ role, content }) => (role === "system" ? role : content))).toEqual([
      ...["system", "about birds", "Wren.", "which bird"],
    ]);
  });

  test("/model continues with another model; a failure is reported and the conversation goes on", async () => {
    wire.script(answerWith({ text: "First." }));
    const { code, stdout, stderr } = await chat("one\n/model opnai\n/model offline\ndance\nlist .\n");
    expect(stderr).toMatch(/did you mean openai\?/);
    expect(stderr).toMatch(/not a language model/);
    expect(stdout).toMatch(/^First\.\n.+\n$/s);
    expect(code).toBe(0);
  });
});
