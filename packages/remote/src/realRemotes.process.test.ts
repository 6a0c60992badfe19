// What is large, killed or real: a root of bubblewrap's, and ssh. Without these programs (Debian: bubblewrap, openssh-server) the tests are
// skipped.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { hasSshServer, startSshServer, temporaryFolder, writeIn } from "@toolcrib/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Address } from "./address.ts";
import { connectTools } from "./connectTools.ts";

const bwrap = "/usr/bin/bwrap";

/** Every tool but the two that take away: the same work wherever it is. */
async function work(address: Address, folder: string): Promise<void> {
  const remote = await connectTools(address, { root: folder, cwd: folder });
  onTestFinished(() => remote.close());
  const registry = new ToolRegistry(remote.tools);
  const call = (name: string, args: object): Promise<string> => registry.execute(name, { ...args });
  expect(await call("write_file", { path: "src/a.txt", content: "one\ntwo\n" })).not.toMatch(/^Error/);
  expect(await call("read_file", { path: "src/a.txt" })).toBe("one\ntwo\n");
  expect(await call("search_text", { query: "two", paths: ["."] })).toBe("src/a.txt:2:two");
  expect(await call("search_text", { query: "t.o", paths: ["."], regex: true })).toBe("src/a.txt:2:two");
  expect(await call("search_files", { pattern: "**/*.txt" })).toBe("src/a.txt");
  expect(await call("run_bash", { command: "pwd" })).toContain(folder);
  expect(readFileSync(join(folder, "src/a.txt"), "utf8")).toBe("one\ntwo\n");
  await remote.close();
}

test.runIf(existsSync(bwrap))("the tools work in a root of bubblewrap's, on the files that it has", async () => {
  const folder = temporaryFolder("remote-root");
  writeIn(folder, ".keep", "");
  const args = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
  const address = { command: bwrap, args: [...args, "--unshare-pid", "--unshare-net", "--"], node: process.execPath };
  await work(address, folder);
});

describe.runIf(hasSshServer)("over ssh", () => {
  test("the tools work, and a server that ends ends them", async () => {
    const folder = temporaryFolder("remote-ssh");
    const { args, end } = await startSshServer();
    onTestFinished(end);
    await work({ command: "ssh", args: ["-T", ...args, "--", "127.0.0.1"] }, folder);
  });

  test("a host that cannot be reached is an error with what ssh says", async () => {
    const args = ["-T", "-F", "none", "-p", "1", "-o", "BatchMode=yes", "--", "127.0.0.1"];
    await expect(connectTools({ command: "ssh", args })).rejects.toThrow(/\(exit code 255\): .*Connection refused/);
  });
});

const here: Address = { command: "env", node: process.execPath };

test("nothing is left there when the program here is killed", async () => {
  const base = temporaryFolder("remote-killed");
  const program = `
    import { connectTools } from ${JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))};
    const { tools } = await connectTools(${JSON.stringify(here)}, { cwd: ${JSON.stringify(base)} });
    const bash = tools.find(({ name }) => name === "run_bash");
    await bash.execute({ command: "echo $PPID > host; echo $$ > pid; exec sleep 600" });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
  await expect.poll(() => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8")).toMatch(/\d\n/);
  const pids = ["host", "pid"].map((name) => Number(readFileSync(join(base, name), "utf8")));
  child.kill("SIGKILL");
  const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
  await expect.poll(() => pids.some(isAlive)).toBe(false);
});

test("arguments and answers that are too large to be sent end nothing else", async () => {
  const base = temporaryFolder("remote-large");
  writeFileSync(join(base, "large"), "x\n".repeat(20 * 2 ** 20));
  const fs = { maxBytes: 2 ** 30, maxReplyBytes: 2 ** 30 };
  const remote = await connectTools(here, { cwd: base, fs });
  onTestFinished(() => remote.close());
  const registry = new ToolRegistry(remote.tools);
  const host = await registry.execute("run_bash", { command: "echo $PPID" });
  const content = "x".repeat(33 * 2 ** 20);
  expect(await registry.execute("write_file", { path: "new", content })).toContain(
    "was not asked (the arguments are larger",
  );
  expect(existsSync(join(base, "new"))).toBe(false);
  expect(await registry.execute("read_file", { path: "large", limit: 20 * 2 ** 20 })).toContain(
    "larger than the limit of 32 MB",
  );
  expect(await registry.execute("run_bash", { command: "echo $PPID" })).toBe(host);
});
