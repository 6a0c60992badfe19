import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs, { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test, vi } from "vitest";
import { FileLock, withFileLock } from "./fileLock.ts";

let folder = "";
let path = "";
beforeEach(() => {
  folder = temporaryFolder("toolcrib-lock");
  path = join(folder, "x.lock");
});

let deadPid: number | undefined;

/** Leaves the lock of a process that has ended. */
function leftByDeadProcess(): void {
  deadPid ??= spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(path, `${hostname()} ${deadPid} 12345`);
}

test("a lock is held until it is released, and then gone", async () => {
  const lock = await FileLock.take(path);
  expect(await FileLock.take(path)).toBeUndefined();
  lock?.release();
  expect(readdirSync(folder)).toEqual([]);
  (await FileLock.take(path))?.release();
});

test("a lock is released when the task throws", async () => {
  await expect(withFileLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(existsSync(path)).toBe(false);
});

test("a lock whose process has ended is taken over by exactly one of many", async () => {
  leftByDeadProcess();
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withFileLock(path, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test("a process that reuses the number of an ended one does not hold its lock", async () => {
  writeFileSync(path, `${hostname()} ${process.pid} 1`);
  (await FileLock.take(path))?.release();
  expect(existsSync(path)).toBe(false);
});

test("a lock that a crash left empty is taken over, a new empty one is not", async () => {
  writeFileSync(path, "");
  // However long this process is kept waiting.
  utimesSync(path, 2 ** 32, 2 ** 32);
  expect(await FileLock.take(path)).toBeUndefined();
  utimesSync(path, 0, 0);
  expect(await FileLock.take(path)).toBeDefined();
});

test("a lock that was taken over before its text was written is not held", async () => {
  const { writeFileSync: write } = fs;
  // A process that is stopped right after it has made the file.
  fs.writeFileSync = (file, _text, options) => {
    write(file, "", options);
    write(file, "elsewhere.example 1 1");
  };
  syncBuiltinESMExports();
  try {
    expect(await FileLock.take(path)).toBeUndefined();
  } finally {
    fs.writeFileSync = write;
    syncBuiltinESMExports();
  }
  expect(readFileSync(path, "utf8")).toBe("elsewhere.example 1 1");
});

test("a lock that a full disk does not take is no lock for the next one", async () => {
  const write = fs.writeFileSync;
  fs.writeFileSync = () => {
    throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  };
  syncBuiltinESMExports();
  try {
    await expect(FileLock.take(path)).rejects.toThrow("no space");
  } finally {
    fs.writeFileSync = write;
    syncBuiltinESMExports();
  }
  expect(readdirSync(folder)).toEqual([]);
  (await FileLock.take(path))?.release();
});

test("who cannot take over in time gives up, also while another is about to", async () => {
  leftByDeadProcess();
  const digest = createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 8);
  writeFileSync(`${path}.${digest}`, "elsewhere.example 1 1");
  expect(await FileLock.take(path)).toBeUndefined();
  expect(await FileLock.take(path, 50)).toBeUndefined();
});

test("a process that could not tell when it started holds its lock as long as it runs", async () => {
  writeFileSync(path, `${hostname()} ${process.pid} `);
  expect(await FileLock.take(path)).toBeUndefined();
});

test.runIf(process.platform === "linux")(
  "a process that has ended holds nothing, though its parent has not looked yet",
  async () => {
    // It ends once its parent is no shell any more, which would look.
    const script =
      '(while kill -0 $$ && [ "$(cat /proc/$$/comm)" != sleep ]; do :; done) 2>/dev/null & echo $!; exec sleep 300';
    const parent = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const pid = String(await new Promise((resolve) => parent.stdout.once("data", resolve))).trim();
      const status = (): string[] => readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
      await vi.waitUntil(() => status()[2] === "Z", { timeout: 120_000 });
      writeFileSync(path, `${hostname()} ${pid} ${status()[21]}`);
      expect(await FileLock.take(path)).toBeDefined();
    } finally {
      parent.kill("SIGKILL");
    }
  },
);

test("a lock of another machine is not taken over", async () => {
  writeFileSync(path, "elsewhere.example 1 1");
  expect(await FileLock.take(path)).toBeUndefined();
  expect(readFileSync(path, "utf8")).toBe("elsewhere.example 1 1");
});

test("a lock of a process that was killed is taken over", async () => {
  const script = `import { FileLock } from ${JSON.stringify(new URL("./fileLock.ts", import.meta.url).href)};
    await FileLock.take(${JSON.stringify(path)}); console.log("held"); setInterval(() => {}, 1000);`;
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    const first = await Promise.race([new Promise((resolve) => child.stdout?.once("data", resolve)), ended]);
    expect(String(first)).toBe("held\n");
    expect(await FileLock.take(path)).toBeUndefined();
  } finally {
    child.kill("SIGKILL");
  }
  await ended;
  expect(await FileLock.take(path)).toBeDefined();
});

test("a named pipe in place of the lock is not waited for", async () => {
  execFileSync("mkfifo", [path]);
  await expect(FileLock.take(path)).rejects.toThrow(/is not a file; remove it/);
});
