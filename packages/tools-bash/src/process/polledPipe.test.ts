import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { nextTurn, temporaryFolder } from "../../fixtures/commands.ts";
import { PolledReader, PolledWriter } from "./polledPipe.ts";

/** The two ends of a pipe; neither blocks. */
function pipe(): { read: number; write: number } {
  const path = join(temporaryFolder("polled"), "pipe");
  execFileSync("mkfifo", [path]);
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { read, write: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function textOf(reader: PolledReader): () => string {
  let text = "";
  reader.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}

describe.runIf(process.platform === "linux")("a pipe by its descriptor", () => {
  test("is read as bytes come, and closed with its last writer", async () => {
    const { read, write } = pipe();
    const blocks = vi.spyOn(Buffer, "allocUnsafeSlow");
    const reader = new PolledReader(read);
    const text = textOf(reader);
    writeSync(write, "one");
    await expect.poll(text).toBe("one");
    writeSync(write, "two");
    await expect.poll(text).toBe("onetwo");
    expect(blocks.mock.calls).toHaveLength(1);
    blocks.mockRestore();
    expect(reader.destroyed).toBe(false);
    closeSync(write);
    await expect.poll(() => reader.destroyed).toBe(true);
    expect(() => readSync(read, new Uint8Array(1))).toThrow("EBADF");
  });

  test("gives other events their turn, however much comes, and stops while it is paused", async () => {
    const { read, write } = pipe();
    const reader = new PolledReader(read);
    let turns = 0;
    reader.on("data", () => {
      if (turns < 100) writeSync(write, "x");
    });
    writeSync(write, "x");
    for (; turns < 100; turns += 1) await nextTurn();
    reader.pause();
    const text = textOf(reader.pause());
    for (const part of ["a".repeat(40_000), "b".repeat(20_000)]) writeSync(write, part);
    await nextTurn();
    expect(text()).not.toContain("b");
    reader.resume();
    await expect.poll(() => text().includes("b")).toBe(true);
    reader.destroy();
    closeSync(write);
  });

  test("takes what is written in parts, counts what waits, and tells that nobody reads any more", async () => {
    const { read, write } = pipe();
    const writer = new PolledWriter(write);
    const reader = new PolledReader(read);
    let isTaken = false;
    writer.write(Buffer.from("é".repeat(100_000)), () => {
      isTaken = true;
    });
    await nextTurn();
    expect([isTaken, writer.writableLength]).toEqual([false, 200_000]);
    const text = textOf(reader);
    await expect.poll(() => isTaken).toBe(true);
    await expect.poll(text).toHaveLength(100_000);
    expect(writer.writableLength).toBe(0);
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => void writer.once("error", resolve));
    reader.destroy();
    await expect.poll(() => reader.closed).toBe(true);
    writer.write("more");
    expect((await failed).code).toBe("EPIPE");
    expect(writer.destroyed).toBe(true);
  });
});
