import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerWith, hasTerminals, sharedWireServer, startOnTerminal, temporaryFolder } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));
const wire = await sharedWireServer();

/** Empty for a process that has ended, also where nobody has asked for its exit code yet. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test.skipIf(!hasTerminals() || process.platform !== "linux")(
  "a command in the background is listed by /jobs, and gone when the chat ends",
  async () => {
    const own = temporaryFolder("jobs");
    const folder = join(own, "work");
    mkdirSync(folder);
    const args = JSON.stringify({ command: "echo $$ > pid; exec sleep 600", background: true });
    wire.script(answerWith({ calls: [{ name: "run_bash", args }] }));
    wire.script(answerWith({ text: "Started." }));
    const model = ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];
    const flags = ["--enable", "run_bash", "--mode", "full", "--no-sandbox"];
    const program = startOnTerminal(bin, ["chat", ...flags, ...model], { cwd: folder, env: { XDG_STATE_HOME: own } });
    await program.shows(/help\s+lists\s+commands/);
    program.type("/jobs\r");
    await program.shows(/No command was started in the background/);
    program.type("start it\r");
    await program.shows(/Started\./);
    program.type("/jobs\r");
    await program.shows(/running +echo \$\$ > pid/);
    expect(wire.requests[0]?.text).toContain("read_output");
    // The shell is started before it has written the file.
    const pidFile = join(folder, "pid");
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/^\d+\n$/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    program.type("/jobs stop nope\r");
    await program.shows(/There is no job nope/);
    expect(commandOf(pid)).toContain("sleep");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    await expect.poll(() => commandOf(pid)).toBe("");
  },
);

describe.skipIf(!hasTerminals() || process.platform !== "linux").each([
  ["here", []],
  ["of --on", ["--on", "command:env"]],
])("input of a running command %s", (_where, on) => {
  test("is asked about each time, with its text and the command, and never for good", async () => {
    const own = temporaryFolder("input");
    const folder = join(own, "work");
    mkdirSync(folder);
    const idIn = (text: string): string => /job-\w+/.exec(text)?.[0] ?? "";
    const command = 'while read -r line; do echo "$line" >> got; done';
    wire.script(
      answerWith({ calls: [{ name: "run_bash", args: JSON.stringify({ command, background: true, input: true }) }] }),
    );
    for (const text of ["rm -rf x\u001b[2J\n", "ls\n"]) {
      wire.script((request) => {
        const script = answerWith({
          calls: [{ name: "write_input", args: JSON.stringify({ id: idIn(request.text), text }) }],
        });
        return typeof script === "function" ? script(request) : script;
      });
    }
    wire.script(answerWith({ text: "Written." }));
    const model = ["-m", "openai-compatible/m", "--base-url", `${wire.url}/v1`];
    const flags = ["--enable", "run_bash,write_input", "--allow", "run_bash", "--no-sandbox", ...on];
    const program = startOnTerminal(bin, ["chat", ...flags, ...model], { cwd: folder, env: { XDG_STATE_HOME: own } });
    await program.shows(/help\s+lists\s+commands/);
    program.type("start it\r");
    await program.shows(
      /give\s+the\s+running\s+command[\s\S]*while\s+read[\s\S]*rm\s+-rf\s+x<U\+001B>\[2J[\s\S]*may\s+run\s+as\s+commands[\s\S]*\[y\]es, \[v\]iew, \[n\]o/,
    );
    program.type("y\r");
    await program.shows(/as\s+input:\s+ls<U\+000A>[\s\S]*\[y\]es, \[v\]iew, \[n\]o/);
    program.type("n\r");
    await program.shows(/Written\./);
    const got = join(folder, "got");
    await expect.poll(() => existsSync(got) && readFileSync(got, "utf8")).toBe("rm -rf x\u001b[2J\n");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
  });
});
