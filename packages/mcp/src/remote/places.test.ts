// Real other places: a root of bubblewrap's, and ssh. Without these programs (Debian: bubblewrap, openssh-server) the tests are skipped.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectTools } from "./connectTools.ts";
import type { Target } from "./target.ts";

const bwrap = "/usr/bin/bwrap";
const sshd = "/usr/sbin/sshd";

/** Every tool but the two that take away: the same work wherever it is. */
async function work(target: Target, folder: string): Promise<void> {
  const place = await connectTools(target, { root: folder, cwd: folder });
  onTestFinished(() => place.close());
  const registry = new ToolRegistry();
  registry.register(...place.tools);
  const call = (name: string, args: object): Promise<string> => registry.execute(name, { ...args });
  expect(await call("write_file", { path: "src/a.txt", content: "one\ntwo\n" })).not.toMatch(/^Error/);
  expect(await call("read_file", { path: "src/a.txt" })).toBe("one\ntwo\n");
  expect(await call("search_text", { query: "two", paths: ["."] })).toBe("src/a.txt:2:two");
  expect(await call("search_text", { query: "t.o", paths: ["."], regex: true })).toBe("src/a.txt:2:two");
  expect(await call("search_files", { pattern: "**/*.txt" })).toBe("src/a.txt");
  expect(await call("run_bash", { command: "pwd" })).toContain(folder);
  expect(readFileSync(join(folder, "src/a.txt"), "utf8")).toBe("one\ntwo\n");
  await place.close();
}

test.runIf(existsSync(bwrap))("the tools work in a root of bubblewrap's, on the files that it has", async () => {
  const folder = temporaryFolder("place-root");
  writeIn(folder, ".keep", "");
  const args = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
  const target = { command: bwrap, args: [...args, "--unshare-pid", "--unshare-net", "--"], node: process.execPath };
  await work(target, folder);
});

describe.runIf(existsSync(sshd))("over ssh", () => {
  /** A server of its own on loopback, whose one key this test has. */
  async function startServer(): Promise<{ readonly args: string[]; end(): Promise<void> }> {
    const folder = temporaryFolder("place-ssh");
    const key = join(folder, "key");
    for (const name of ["host", "key"])
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
    const free = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => free.once("listening", resolve));
    const { port } = free.address() as { port: number };
    await new Promise((resolve) => free.close(resolve));
    writeIn(
      folder,
      "config",
      [
        `Port ${port}`,
        "ListenAddress 127.0.0.1",
        `HostKey ${join(folder, "host")}`,
        `AuthorizedKeysFile ${key}.pub`,
        "PidFile none",
        "UsePAM no",
        "StrictModes no",
        "PermitRootLogin prohibit-password",
      ].join("\n"),
    );
    // Where the server runs as root, it wants this folder.
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    const server = spawn(sshd, ["-D", "-e", "-f", join(folder, "config")], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
    let said = "";
    server.stderr.on("data", (text) => {
      said += text;
    });
    const end = (): Promise<void> => {
      server.kill();
      return ended;
    };
    onTestFinished(end);
    await expect.poll(() => said).toContain("Server listening");
    const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes", "LogLevel=ERROR"];
    const given = options.flatMap((option) => ["-o", option]);
    return { args: ["-T", "-F", "none", "-p", String(port), "-i", key, ...given, "--", "127.0.0.1"], end };
  }

  test("the tools work, and a server that ends ends them", async () => {
    const folder = temporaryFolder("place-remote");
    const { args } = await startServer();
    await work({ command: "ssh", args, throughShell: true, node: process.execPath }, folder);
  });

  test("a host that cannot be reached is an error with what ssh says", async () => {
    const args = ["-T", "-F", "none", "-p", "1", "-o", "BatchMode=yes", "--", "127.0.0.1"];
    await expect(connectTools({ command: "ssh", args, throughShell: true })).rejects.toThrow(
      /\(exit code 255\): .*Connection refused/,
    );
  });
});
