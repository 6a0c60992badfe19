// Real remotes: a root of bubblewrap's, and ssh. Without these programs (Debian: bubblewrap, openssh-server) the tests are skipped.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
  const registry = new ToolRegistry();
  registry.register(...remote.tools);
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
