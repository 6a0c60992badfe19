import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { temporaryFolder, writeIn } from "./temporaryFolder.ts";

const sshd = "/usr/sbin/sshd";

/** True if there is a server to start (Debian: openssh-server). */
export const hasSshServer: boolean = existsSync(sshd);

export interface SshServer {
  /** For `ssh`, up to the host. */
  readonly args: readonly string[];
  end(): Promise<void>;
}

/** An ssh server of its own on loopback, whose one key the caller has. Commands there find the Node.js of this process. */
export async function startSshServer(): Promise<SshServer> {
  const folder = temporaryFolder("ssh");
  const key = join(folder, "key");
  for (const name of ["host", "key"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  const free = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const config = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${key}.pub`,
    "PidFile none",
    "UsePAM no",
    "StrictModes no",
    "PermitRootLogin prohibit-password",
    `SetEnv PATH=${dirname(process.execPath)}:/usr/bin:/bin`,
  ];
  writeIn(folder, "config", config.join("\n"));
  // Where the server runs as root, it wants this folder.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const server = spawn(sshd, ["-D", "-e", "-f", join(folder, "config")], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = "";
    server.stderr.on("data", (text) => {
      said += text;
      if (said.includes("Server listening")) resolve();
    });
    void ended.then(() => reject(new Error(`sshd has ended: ${said}`)));
  });
  const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes", "LogLevel=ERROR"];
  const given = options.flatMap((option) => ["-o", option]);
  return {
    args: ["-F", "none", "-p", String(port), "-i", key, ...given],
    end: () => {
      server.kill();
      return ended;
    },
  };
}
