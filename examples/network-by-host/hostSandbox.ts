// A sandbox for `run_bash` from @anthropic-ai/sandbox-runtime: commands reach single hosts through its proxies, on Linux and macOS.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import { findProgram } from "@toolcrib/kit/files";
import type { CommandToWrap, OwnSandbox, WrappedCommand } from "@toolcrib/tools-bash";

const packageName = "@anthropic-ai/sandbox-runtime";
const programs = { bwrap: "bubblewrap", socat: "socat", rg: "ripgrep" };

/** Makes the sandbox. The package has one configuration for the process, so make one, and `close` it: its proxies keep the process alive. */
export function createHostSandbox(folder: string, hosts: string[]): { sandbox: OwnSandbox; close(): Promise<void> } {
  const writable = realpathSync(folder);
  const temporary = mkdtempSync(join(realpathSync(tmpdir()), "commands-"));
  let started: Promise<void> | undefined;
  const start = (): Promise<void> => {
    started ??= initialize(hosts, writable).then(() => tryOut(temporary));
    return started;
  };
  const sandbox: OwnSandbox = {
    confinement: { words: packageName, writable: [writable], network: hosts, protects: true, denies: true },
    problem: () => start().then(() => undefined, String),
    async wrap(command) {
      await start();
      return wrap(command, [writable, temporary]);
    },
  };
  const close = async (): Promise<void> => {
    await SandboxManager.reset();
    rmSync(temporary, { recursive: true, force: true });
  };
  return { sandbox, close };
}

async function initialize(hosts: string[], writable: string): Promise<void> {
  if (!SandboxManager.isSupportedPlatform()) throw new Error(`${packageName} works only on Linux and macOS`);
  const network = { allowedDomains: hosts, deniedDomains: [] };
  const filesystem = { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] };
  const ofLinux = (): object => ({
    bwrapPath: programPath("bwrap", writable),
    socatPath: programPath("socat", writable),
    ripgrep: { command: programPath("rg", writable) },
  });
  await SandboxManager.initialize({ network, filesystem, ...(process.platform === "linux" && ofLinux()) });
  // Without its filter commands could open the sockets of services.
  const unfiltered = SandboxManager.checkDependencies().warnings.find((warning) => /seccomp/i.test(warning));
  if (unfiltered !== undefined) throw new Error(unfiltered);
}

/** Finds a program, but not one that commands may have put on PATH. */
function programPath(name: keyof typeof programs, writable: string): string {
  const path = findProgram(name, [writable, process.cwd()]);
  if (path === undefined) throw new Error(`${name} is not on PATH; install it (apt install ${programs[name]})`);
  return path;
}

const literal = (path: string) => ({ path, literal: true }) as const;
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

type Wrapped = Omit<CommandToWrap, "cwd">;

async function wrap({ command, shell, env, signal, ...paths }: Wrapped, writable: string[]): Promise<WrappedCommand> {
  // The package lets every command write in these, so they are closed again. On Linux one that is missing would be made.
  const opened = [".npm/_logs", ".claude/debug"]
    .map((name) => join(homedir(), name))
    .concat("/tmp/claude", "/private/tmp/claude");
  const filesystem = {
    denyRead: paths.deniedPaths.map(literal),
    allowRead: [],
    allowWrite: writable.map(literal),
    denyWrite: [
      ...paths.protectedPaths,
      ...paths.deniedPaths,
      ...opened.filter((place) => process.platform !== "linux" || existsSync(place)),
    ].map(literal),
  };
  // Inside: a variable such as LD_PRELOAD, set for the program outside, would run code there.
  const variables = Object.entries({ TMPDIR: writable.at(-1), ...env }).map(([key, value]) => `${key}=${value}`);
  const inner = `exec ${["/usr/bin/env", "--", ...variables, shell, "-c", command].map(quoted).join(" ")}`;
  const options = { commandId: crypto.randomUUID() };
  const line = await SandboxManager.wrapWithSandbox(inner, "/bin/sh", { filesystem }, signal, options);
  const ended = (): void => SandboxManager.cleanupAfterCommand();
  return { file: "/bin/sh", args: ["-c", line], endsAll: process.platform === "linux", ended };
}

/** Tries what commands must not do: whatever the version and the system, the package is used only if it holds. */
async function tryOut(temporary: string): Promise<void> {
  const [kept, outside] = [join(temporary, "kept[1]"), `${temporary}-outside`];
  writeFileSync(kept, "as it was");
  const command = `echo x >${quoted(kept)}; echo x >${outside}; cat ${quoted(kept)}; echo ran >"$TMPDIR/ran"`;
  const paths = { protectedPaths: [kept], deniedPaths: [kept] };
  const { file, args, ended } = await wrap({ command, shell: "/bin/sh", env: {}, signal: undefined, ...paths }, [
    temporary,
  ]);
  const { stdout, stderr } = spawnSync(file, args, { encoding: "utf8", timeout: 10_000 });
  ended?.();
  const isHeld = readFileSync(kept, "utf8") === "as it was" && !stdout.includes("as it was") && !existsSync(outside);
  rmSync(outside, { force: true });
  if (!isHeld || !existsSync(join(temporary, "ran"))) throw new Error(`a test of the sandbox failed: ${stderr.trim()}`);
}
