import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "@toolcrib/kit/files";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Answer, answerOf } from "../../fixtures/commands.ts";
import { placeOutside, whyNoSandbox } from "../../fixtures/sandbox.ts";
import type { RunBashOptions } from "../bashOptions.ts";
import { createRunBashTool } from "../runBash.ts";

/* Ways out of the sandbox, and around it. `sandbox.process.test.ts` has what it does in ordinary use. */

const works = whyNoSandbox === undefined;
const isRoot = process.getuid?.() === 0;
const sandboxed = test.runIf(works);

let inside: string;
/** Neither below /tmp nor writable. */
let outside: string;

beforeAll(async () => {
  inside = await realpath(await mkdtemp(join(tmpdir(), "toolcrib-guards-")));
  outside = await realpath(await mkdtemp(join(placeOutside, ".toolcrib-guards-")));
});

afterAll(() => Promise.all([inside, outside].map((path) => rm(path, { recursive: true }))));

type Run = (command: string, args?: Record<string, unknown>) => Promise<Answer>;

function toolWith(options: RunBashOptions = {}): Run {
  const tool = createRunBashTool({ root: inside, sandbox: true, ...options });
  return (command, args) => answerOf(tool, command, args);
}

const run: Run = (command, args) => toolWith()(command, args);

async function withPath<Result>(path: string, body: () => Promise<Result>): Promise<Result> {
  vi.stubEnv("PATH", path);
  try {
    return await body();
  } finally {
    vi.unstubAllEnvs();
  }
}

/** A program that leaves a trace of having run. */
async function plant(folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `#!/bin/sh\ntouch '${outside}/escaped'\n`, { mode: 0o755 });
  return folder;
}

describe("the program that makes the sandbox", () => {
  const escaped = (): boolean => existsSync(join(outside, "escaped"));

  sandboxed("is never one that tools could have written", async () => {
    const places = [
      await plant(inside, "bwrap"),
      await plant(join(inside, "bin"), "bwrap"),
      await plant(join(outside, "other/node_modules/.bin"), "bwrap"),
    ];
    // A folder elsewhere whose program is a link into a root, and a link to a folder inside one.
    await mkdir(join(outside, "links"));
    await symlink(join(inside, "bwrap"), join(outside, "links/bwrap"));
    await symlink(join(inside, "bin"), join(outside, "folder"));
    places.push(join(outside, "links"), join(outside, "folder"), ".");
    for (const place of places) {
      const { stdout } = await withPath(`${place}:${process.env.PATH}`, () => run("echo fine"));
      expect([place, stdout]).toEqual([place, "fine\n"]);
      await expect(withPath(place, () => run("true"))).rejects.toMatchObject({ code: "execution_failed" });
    }
    expect(escaped()).toBe(false);
  });

  sandboxed("is looked up once, when the tool is made", async () => {
    const tool = toolWith();
    const late = await plant(join(outside, "late"), "bwrap");
    await withPath(late, async () => expect((await tool("echo fine")).stdout).toBe("fine\n"));
    expect(escaped()).toBe(false);
  });
});

describe("inside", () => {
  sandboxed("settings of the system cannot be changed, by root neither", async () => {
    for (const setting of ["/proc/sys/vm/swappiness", "/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj"]) {
      expect((await run(`value=$(cat ${setting}) && echo "$value" > ${setting}`)).exit_code).not.toBe(0);
    }
    const { stdout } = await run("sed -E 's/^[^ ]+ ([^ ]+) [^ ]+ ([^ ,]+).*/\\1 \\2/' /proc/mounts");
    for (const place of ["/", "/proc", "/sys", "/dev"])
      expect(stdout).toContain(`\n${place} ro\n`.slice(place === "/" ? 1 : 0));
  });

  sandboxed("no more user namespaces can be made", async () => {
    expect((await run("unshare -U true")).exit_code).not.toBe(0);
    expect((await run("unshare -Ur true")).exit_code).not.toBe(0);
  });

  sandboxed("no environment but its own can be read, and that without what was scrubbed", async () => {
    process.env.TOOLCRIB_TEST_TOKEN = "hush";
    try {
      const tool = toolWith({ scrubEnv: true });
      expect((await tool("cat /proc/[0-9]*/environ | grep -c hush")).stdout).toBe("0\n");
      expect((await tool(`cat /proc/${process.pid}/environ`)).exit_code).not.toBe(0);
    } finally {
      delete process.env.TOOLCRIB_TEST_TOKEN;
    }
  });

  sandboxed("no descriptor is open but the three of the command", async () => {
    // No pipe or substitution, which would open more. What this test itself was started with is replaced by /dev/null.
    const { stdout } = await run("for d in /proc/$$/fd/*; do case $d in */[012]) ;; *) readlink $d; esac; done; true");
    expect(stdout.split("\n").filter((target) => target !== "" && target !== "/dev/null")).toEqual([]);
  });

  const perl = findProgram("perl");
  test.runIf(works && perl)("sockets of services in the filesystem, and abstract ones, are out of reach", async () => {
    const servers: Server[] = [];
    const reached: string[] = [];
    for (const path of [join(outside, "socket"), `\0toolcrib-${process.pid}`]) {
      const server = createServer((socket) => {
        reached.push(path);
        socket.end();
      });
      await new Promise<void>((resolve) => server.listen(path, resolve));
      servers.push(server);
      const escapedPath = path.replace("\0", "\\0");
      await writeFile(
        join(inside, "connect.pl"),
        `use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die "no socket: $!\\n";
         connect($s, pack_sockaddr_un("${escapedPath}")) or die "no connection: $!\\n"; print "connected\\n"; <$s>;`,
      );
      const refused = await toolWith({ sandbox: { network: true } })("perl connect.pl");
      expect(refused.stderr).toMatch(/^no socket: Address family not supported/);
      const open = await toolWith({ sandbox: { network: true, unixSockets: true } })("perl connect.pl");
      expect(open.stdout).toBe("connected\n");
    }
    for (const server of servers) server.close();
    expect(reached).toHaveLength(2);
  });

  sandboxed("memory and what lies in memory are limited", async () => {
    const limits = { memoryBytes: 50_000_000, temporaryBytes: 1_000_000 };
    const tool = toolWith({ sandbox: { limits } });
    const { exit_code, stderr } = await tool("dd if=/dev/zero of=/dev/null bs=200000000 count=1");
    expect(exit_code).not.toBe(0);
    expect(stderr).toMatch(/memory/);
    for (const place of ["/tmp", "/run", "/dev/shm"]) {
      const full = await tool(`head -c 3000000 /dev/zero > ${place}/much`);
      expect(full.exit_code).not.toBe(0);
      expect(full.stderr).toMatch(/No space left on device[\s\S]*\[sandbox: /);
    }
    expect((await tool("echo > /dev/file")).exit_code).not.toBe(0);
  });

  sandboxed("the number of processes is limited, for root only in name", async () => {
    const tool = toolWith({ sandbox: { limits: { processes: 20 } } });
    expect((await tool("ulimit -u 2>/dev/null || ulimit -p")).stdout).toBe("20\n");
    if (isRoot) return;
    const { exit_code, stderr } = await tool("for i in $(seq 40); do sleep 60 & done; exit 3");
    expect(exit_code).not.toBe(3);
    expect(stderr).toMatch(/fork[\s\S]*\[sandbox: .*20 processes/);
  });

  sandboxed("Infinity removes a limit", async () => {
    const none = Number.POSITIVE_INFINITY;
    const limits = { processes: none, memoryBytes: none, temporaryBytes: none };
    expect((await toolWith({ sandbox: { limits } })("ulimit -d; touch /tmp/x")).stdout).toBe("unlimited\n");
  });
});

sandboxed("no descriptor is left open by calls that succeed, fail, time out or are refused", async () => {
  const count = (): number => readdirSync("/proc/self/fd").length;
  const tool = toolWith();
  const round = async (): Promise<void> => {
    await tool("false");
    await tool("sleep 60", { timeout: 100 });
    await expect(tool("true", { cwd: "/run" })).rejects.toThrow("not visible");
  };
  await round();
  const before = count();
  for (let index = 0; index < 3; index += 1) await round();
  expect(count()).toBeLessThanOrEqual(before);
});
