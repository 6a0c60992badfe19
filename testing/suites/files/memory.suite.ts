import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolChild, suiteTimeout } from "./child.ts";

const base = mkdtempSync(join(tmpdir(), "memory-"));
const lines = 12_000_000;

beforeAll(() => {
  const file = openSync(join(base, "1 GB"), "w");
  for (let line = 0; line < lines; line += 100_000) {
    writeSync(
      file,
      Array.from({ length: 100_000 }, (_, index) => `${String(line + index + 1).padEnd(88, ".")}\n`).join(""),
    );
  }
  closeSync(file);
}, suiteTimeout);
afterAll(() => rmSync(base, { recursive: true, force: true }));

test("any page of a 1 GB file is read in bounded memory", { timeout: suiteTimeout }, async () => {
  const child = await startToolChild();
  const path = join(base, "1 GB");
  await child.call("read_file", { path, limit: 1 });
  for (const offset of [1, 6_000_000, 11_000_000]) {
    const { output, ms, maxRssMb } = await child.call("read_file", { path, offset, limit: 200 });
    console.log(`200 lines of a 1 GB file from line ${offset}: ${ms.toFixed(1)} ms, ${maxRssMb.toFixed(0)} MB`);
    expect(output.split("\n", 1)[0]).toBe(String(offset).padEnd(88, "."));
    expect(maxRssMb).toBeLessThan(200);
  }
  const whole = await child.call("read_file", { path });
  expect(whole.output.length).toBeLessThan(263_000);
  await child.kill();
});

test("a line of 10 MB and a directory of 100,000 entries are read in bounded memory", {
  timeout: suiteTimeout,
}, async () => {
  const child = await startToolChild();
  writeFileSync(join(base, "line"), "x".repeat(10_000_000));
  const line = await child.call("read_file", { path: join(base, "line") });
  expect(line.output).toMatch(
    /\[truncated: shown 262144 of 10000000 bytes of line 1 \(search_text finds words in the rest\)\]$/,
  );
  const directory = join(base, "many");
  mkdirSync(directory);
  for (let index = 0; index < 100_000; index += 1) writeFileSync(join(directory, `${index}`), "");
  const list = await child.call("list_dir", { path: directory });
  expect(list.output).toMatch(/\[truncated: shown 2000 of 100000 entries; pass offset=2001 to continue\]$/);
  const removed = await child.call("remove", { path: directory });
  expect(removed.output).toMatch(/\(100001 entries\)$/);
  console.log(
    `10 MB line ${line.ms.toFixed(0)} ms; 100,000 entries: list ${list.ms.toFixed(0)} ms, remove ${removed.ms.toFixed(0)} ms, ${removed.maxRssMb.toFixed(0)} MB`,
  );
  expect(removed.maxRssMb).toBeLessThan(200);
  await child.kill();
});
