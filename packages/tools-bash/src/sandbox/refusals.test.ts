import { expect, test } from "vitest";
import { limitsWithDefaults } from "./bubblewrap.ts";
import { describeProtection, describeRefusals } from "./refusals.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

function lines(printed: string, options: SandboxOptions = {}, denies = false): string[] {
  const sandbox: Partial<Sandbox> = { writable: ["/project"], limits: limitsWithDefaults({}), options, denies };
  return describeRefusals(printed, sandbox as Sandbox);
}

test.each([
  ["touch: cannot touch '/etc/x': Read-only file system", "can write only in /project and /tmp"],
  ["npm error code EROFS", "can write only in /project and /tmp"],
  ["curl: (6) Could not resolve host: example.com", "have no network"],
  ["npm error getaddrinfo EAI_AGAIN registry.example", "have no network"],
  ["ssh: connect to host x port 22: Network is unreachable", "have no network"],
  ["ssh: Could not resolve hostname example.com: Name has no usable address", "have no network"],
  ["E: Could not resolve 'deb.example.org'", "have no network"],
  ["NameResolutionError: Failed to resolve 'pypi.org' ([Errno -3] x)", "have no network"],
  ["wget: unable to resolve host address 'example.org'", "have no network"],
  ["fatal: unable to access: Failed to connect to 127.0.0.1 port 80", "have no network"],
  ["OSError: [Errno 97] Address family not supported by protocol", "cannot open Unix sockets"],
  ["listen EAFNOSUPPORT: address family not supported", "cannot open Unix sockets"],
  ["sh: 1: Cannot fork", "4096 processes"],
  ["bash: fork: retry: Resource temporarily unavailable", "4096 processes"],
  ["mmap: Cannot allocate memory", "bytes of memory"],
])("%j is explained", (printed, words) => {
  const [line, ...more] = lines(printed);
  expect(line).toMatch(/^\[sandbox: .*, which may be why this failed\]$/);
  expect(line).toContain(words);
  expect(more).toEqual([]);
});

test.each([
  "",
  "1 test failed",
  "error: cannot find module x",
  "Permission denied (publickey)",
  "fatal: failed to resolve 'HEAD~1' as a valid ref.",
  'Failed to resolve import "./x" from "src/main.ts"',
  'Could not resolve "react-dom/client"',
  "npm error code ERESOLVE could not resolve",
])("%j is not explained as one", (printed) => expect(lines(printed)).toEqual([]));

test.each([
  ["rm: cannot remove 'b/.git/config': Device or resource busy", ["/r/b/.git/config"]],
  ["error: could not write config file .git/config: Device or resource busy", ["/r/.git/config", "/r/b/.git/config"]],
  ["sh: cannot create .envrc: Read-only file system", ["/r/.envrc"]],
  ["mv: cannot move '/r/b/.git/hooks/x': Read-only file system", ["/r/b/.git/hooks"]],
  ["touch: cannot touch 'config': Read-only file system", []],
  ["fatal: Unable to create '/other/.git/worktrees/wt/index.lock': Read-only file system", []],
  ["sh: cannot create /r/.envrc: Read-only file system", ["/r/.envrc"]],
  ["touch: cannot touch '/r/.git/hooks/x': Read-only file system", ["/r/.git/hooks"]],
  ["touch: cannot touch '/elsewhere/r/.envrc': Read-only file system", []],
])("%j names the protected paths that it may mean, and no others", (printed, named) => {
  const kept = ["/r/wt/.git", "/r/.git/config", "/r/b/.git/config", "/r/.git/hooks", "/r/b/.git/hooks", "/r/.envrc"];
  const line = describeProtection(printed, kept, "/r", undefined, (path) => path)?.[0] ?? "";
  expect(line.match(/\/r\/[^,\s]+/g) ?? []).toEqual(named);
});

test.each([
  ["/bin/sh: 1: cannot create zz: Read-only file system", "/r/.claude/wt/x", true],
  ["bash: line 3: zz: Read-only file system", "/r/.claude", true],
  ["touch: cannot touch 'a/zz': Read-only file system", "/r/.claude/wt", true],
  ["touch: cannot touch '/etc/zz': Read-only file system", "/r/.claude/wt", false],
  ["/bin/sh: 1: cannot create zz: Read-only file system", "/r/.claudette", false],
])("%j names a protected folder that holds the working directory %s: %s", (printed, cwd, isNamed) => {
  const words = ["[sandbox: commands cannot change /r/.claude, which is protected]"];
  const kept = ["/r/.envrc", "/r/.claude"];
  expect(describeProtection(printed, kept, cwd, undefined, (path) => path)).toEqual(isNamed ? words : undefined);
});

test("a thing that the sandbox allows is not named as the reason", () => {
  expect(lines("ECONNREFUSED 127.0.0.1:80", { network: true })).toEqual([]);
  expect(lines("Address family not supported", { unixSockets: true })).toEqual([]);
});

test("a file that cannot be opened is explained where paths are denied", () => {
  for (const printed of ["cat: .env: Permission denied", "Error: EACCES: permission denied, open '.env'"]) {
    const line = "[sandbox: commands cannot open denied paths, which may be why this failed]";
    expect([lines(printed), lines(printed, {}, true)]).toEqual([[], [line]]);
  }
});

test("the remedy of the calling program ends the line", () => {
  const remedies = { write: "--root DIR adds a directory", network: "--sandbox-allow network" };
  expect(lines("EROFS\nENETUNREACH", { remedies })).toEqual([
    "[sandbox: commands can write only in /project and /tmp, which may be why this failed; --root DIR adds a directory]",
    "[sandbox: commands have no network and reach no service of this machine, which may be why this failed; --sandbox-allow network]",
  ]);
});
