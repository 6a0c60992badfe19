import { existsSync, readFileSync } from "node:fs";
import { answerWith, sharedWireServer } from "@toolcrib/testing";
import { describe, expect, test } from "vitest";
import { call, homeFor, modelAt } from "../../fixtures/command.ts";

const home = homeFor("jobs");
const wire = await sharedWireServer();

/** Empty for a process that has ended, also where nobody has asked for its exit code yet. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test.skipIf(process.platform !== "linux")(
  "a command in the background is listed by /jobs, and gone when the chat ends",
  async () => {
    const args = { command: "echo $$ > pid; exec sleep 600", background: true };
    wire.script(call("run_bash", args), answerWith({ text: "Started." }));
    const flags = ["--enable", "run_bash", "--mode", "full", "--no-sandbox"];
    const program = home.onTerminal(["chat", ...flags, ...modelAt(wire)]);
    await program.shows(/help\s+lists\s+commands/);
    await program.enter("/jobs\r", /No command was started in the background/);
    await program.enter("start it\r", /Started\./);
    await program.enter("/jobs\r", /running +echo \$\$ > pid/);
    expect(wire.requests[0]?.text).toContain("read_output");
    // The shell is started before it has written the file.
    const pidFile = home.at("pid");
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toMatch(/^\d+\n$/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await program.enter("/jobs stop nope\r", /There is no job nope/);
    expect(commandOf(pid)).toContain("sleep");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
    await expect.poll(() => commandOf(pid)).toBe("");
  },
);

describe.skipIf(process.platform !== "linux").each([
  ["here", []],
  ["of --on", ["--on", "command:env"]],
])("input of a running command %s", (_where, on) => {
  test("is asked about each time, with its text and the command, and never for good", async () => {
    const idIn = (text: string): string => /job-\w+/.exec(text)?.[0] ?? "";
    const command = 'while read -r line; do echo "$line" >> got; done';
    wire.script(call("run_bash", { command, background: true, input: true }));
    for (const text of ["rm -rf x\u001b[2J\n", "ls\n"]) {
      wire.script((request) => {
        const script = call("write_input", { id: idIn(request.text), text });
        return typeof script === "function" ? script(request) : script;
      });
    }
    wire.script(answerWith({ text: "Written." }));
    const flags = ["--enable", "run_bash,write_input", "--allow", "run_bash", "--no-sandbox", ...on];
    const program = home.onTerminal(["chat", ...flags, ...modelAt(wire)]);
    await program.shows(/help\s+lists\s+commands/);
    program.type("start it\r");
    await program.shows(
      /give\s+the\s+running\s+command[\s\S]*while\s+read[\s\S]*rm\s+-rf\s+x<U\+001B>\[2J[\s\S]*may\s+run\s+as\s+commands[\s\S]*\[y\]es, \[v\]iew, \[n\]o/,
    );
    await program.enter("y\r", /as\s+input:\s+ls<U\+000A>[\s\S]*\[y\]es, \[v\]iew, \[n\]o/);
    await program.enter("n\r", /Written\./);
    const got = home.at("got");
    await expect.poll(() => existsSync(got) && readFileSync(got, "utf8")).toBe("rm -rf x\u001b[2J\n");
    program.type("/quit\r");
    expect(await program.ended).toBe(0);
  });
});
