import fs, { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import { type Answer, passLimit, type Reading, run as runIn, sharedFolder, startJob } from "../../fixtures/commands.ts";
import { createBashTools } from "../bash.ts";
import { createRunBashTool } from "../runBash.ts";
import { HeadTailBuffer } from "./headTailBuffer.ts";
import { SpillFile } from "./spillFile.ts";

const folder = sharedFolder("spill");
const spill = join(folder, "a/spilled");
const run = (command: string, args = {}): Promise<Answer> => runIn(command, args, { spill });
const count = (): number => readdirSync(spill).length;

const pathIn = (text: string): string => / are? in (\S+)\]$/.exec(text)?.[1] ?? / is in (\S+)\]$/.exec(text)?.[1] ?? "";

describe("with a directory for it, output that is too long for the answer", () => {
  test("is written whole to a file for each stream, which the answer names and only its owner may read", async () => {
    const before = process.umask(0);
    try {
      const { stdout, stderr } = await run("seq 100000; seq 200000 -1 100000 >&2");
      expect(stdout).toMatch(
        /^1\n2\n[\s\S]*\n100000\n\n\[truncated: shown \d+ of 588895 bytes; all of it is in \S+\]$/,
      );
      expect(stderr).toMatch(/all of it is in \S+-stderr\.txt\]$/);
      expect(readFileSync(pathIn(stdout), "utf8").split("\n")).toHaveLength(100_001);
      expect(readFileSync(pathIn(stderr), "utf8")).toMatch(/^200000\n[\s\S]*\n100000\n$/);
      expect(statSync(pathIn(stdout)).mode & 0o777).toBe(0o600);
      expect(statSync(spill).mode & 0o777).toBe(0o700);
    } finally {
      process.umask(before);
    }
  });

  test("is kept byte for byte, also at the time limit", async () => {
    const command = "head -c 300000 /dev/urandom | tee copy; touch copied; sleep 600";
    const { stdout, exit_code } = await passLimit(
      () => run(command, { cwd: folder, timeout: 3000 }),
      () => existsSync(join(folder, "copied")),
    );
    expect(exit_code).toBe(-1);
    expect(readFileSync(pathIn(stdout)).equals(readFileSync(join(folder, "copy")))).toBe(true);
  });

  test("makes no file when it is short, and leaves none after an abort", async () => {
    const before = count();
    expect((await run("head -c 51200 /dev/zero | tr '\\0' x")).stdout).toHaveLength(51_200);
    const ended = new AbortController();
    const running = createRunBashTool({ spill }).execute(
      { command: "seq 1000000; sleep 600" },
      { signal: ended.signal },
    );
    await expect.poll(count).toBe(before + 1);
    ended.abort();
    await expect(running).rejects.toMatchObject({ code: "aborted" });
    expect(count()).toBe(before);
  });

  test("of a command in the background is whole in a file for each reading", async () => {
    const registry = new ToolRegistry(createBashTools({ spill, background: true }));
    const id = await startJob(registry, "seq 100000; mkfifo on; read line < on; seq 5", { cwd: folder });
    let stdout = "";
    for (let running = true; running; ) {
      const reading = JSON.parse(await registry.execute("read_output", { id, wait: 60_000 })) as Reading;
      const path = pathIn(reading.stdout);
      stdout += path === "" ? reading.stdout : readFileSync(path, "utf8");
      running = reading.running;
      if (stdout.endsWith("100000\n")) writeFileSync(join(folder, "on"), "");
    }
    expect(stdout).toMatch(/^1\n2\n[\s\S]*\n100000\n1\n2\n3\n4\n5\n$/);
    expect(stdout.length).toBe(588_895 + 10);
  });

  test("beyond the limit of a file is named by how much the file holds", () => {
    const file = new SpillFile(spill, "stdout", 100);
    const buffer = new HeadTailBuffer(20, file);
    for (let index = 0; index < 50; index += 1) buffer.push(Buffer.from(`line ${index}\n`));
    expect(buffer.toString()).toMatch(/\[truncated: shown \d+ of 390 bytes; the first 100 are in \S+\]$/);
    buffer.close();
    expect(readFileSync(pathIn(buffer.toString()), "utf8")).toHaveLength(100);
  });
});

describe("a file that cannot be written", () => {
  test("does not fail the command, and the answer says why the rest is lost", async () => {
    writeFileSync(join(folder, "file"), "kept");
    for (const directory of [join(folder, "file"), "/proc/missing"]) {
      const tool = createRunBashTool({ spill: directory });
      const { stdout, exit_code } = JSON.parse(await tool.execute({ command: "seq 100000" })) as Answer;
      expect(exit_code).toBe(0);
      expect(stdout).toMatch(/\[… \d+ bytes left out; they could not be written to a file \(E[A-Z]+\) …\]\n/);
      expect(stdout).toMatch(/\[truncated: shown \d+ of 588895 bytes\]$/);
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("kept");
  });

  test("to its end, on a full disk for example, is removed", () => {
    const before = count();
    const file = new SpillFile(spill, "stdout");
    const buffer = new HeadTailBuffer(4, file);
    buffer.push(Buffer.from("more than four"));
    expect(count()).toBe(before + 1);
    const { writeSync } = fs;
    fs.writeSync = () => {
      throw Object.assign(new Error("full"), { code: "ENOSPC" });
    };
    syncBuiltinESMExports();
    try {
      buffer.push(Buffer.from("and more"));
    } finally {
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
    }
    buffer.push(Buffer.from("and more"));
    expect(buffer.toString()).toMatch(/could not be written to a file \(ENOSPC\) …\][\s\S]*bytes\]$/);
    expect(count()).toBe(before);
  });

  test("is always new: neither a link nor an existing file is written", () => {
    const planted = join(folder, "planted");
    mkdirSync(planted);
    writeFileSync(join(folder, "victim"), "kept");
    // The name is random: this takes the place of guessing it.
    const file = ((random) => {
      crypto.randomUUID = () => "0-1-2-3-4";
      try {
        return new SpillFile(planted, "stdout");
      } finally {
        crypto.randomUUID = random;
      }
    })(crypto.randomUUID);
    symlinkSync(join(folder, "victim"), join(planted, "run_bash-0-1-2-3-4-stdout.txt"));
    file.write(Buffer.from("bad"));
    expect(file.unwritten).toContain("EEXIST");
    expect([readFileSync(join(folder, "victim"), "utf8"), readdirSync(planted).length]).toEqual(["kept", 1]);
  });
});

test.each([[""], ["a\0b"], [null], [7]])("spill of %j is refused when the tool is made", (value) => {
  expect(() => createRunBashTool({ spill: value as string })).toThrow(TypeError);
});
