import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerWith, hasTerminals, sharedWireServer, startOnTerminal, temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";

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
