import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";
import { rounds, startToolChild, suiteTimeout, type ToolChild } from "./child.ts";
import { snapshot } from "./snapshot.ts";

const near = mkdtempSync(join(tmpdir(), "kill-move-"));
const farParent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const far = mkdtempSync(join(farParent, "kill-move-"));
afterAll(() => {
  rmSync(near, { recursive: true, force: true });
  rmSync(far, { recursive: true, force: true });
});
const twoDevices = statSync(near).dev !== statSync(far).dev;
if (!twoDevices) console.log("skipped: kill -9 during a move across devices needs a second filesystem at /dev/shm");

function makeTree(path: string, seed: number): void {
  for (let directory = 0; directory < 5; directory += 1) {
    mkdirSync(join(path, `${directory}/sub`), { recursive: true });
    for (let file = 0; file < 6; file += 1) {
      writeFileSync(
        join(path, `${directory}/sub/${file}`),
        Buffer.alloc((seed * 7919 + file * 104_729) % 200_000, file + 1),
      );
    }
    symlinkSync("sub/0", join(path, `${directory}/link`));
  }
}

test.runIf(twoDevices)(
  "kill -9 during a move across devices: never torn, never lost",
  async () => {
    const count = rounds(20);
    const random = createRandom(suiteSeed);
    let longest = 0;
    const seen = { before: 0, both: 0, after: 0, torn: 0, lost: 0, leftover: 0 };
    for (let round = 0; round < count; round += 1) {
      const [from, to] = round % 2 ? [near, far] : [far, near];
      const isFile = round % 4 > 1;
      const [source, destination] = [join(from, "source"), join(to, "parent/destination")];
      if (isFile) writeFileSync(source, Buffer.alloc(20_000_000, round));
      else makeTree(source, round);
      const whole = (path: string): string => JSON.stringify(isFile ? sizeOf(path) : snapshot(path));
      const expected = whole(source);
      const child = await startToolChild();
      child.send("move", { source, destination });
      // The first two run to their end, to know how long a move takes here.
      if (round < 2) longest = Math.max(longest, await settled(child));
      else await sleep(random(longest * 1.2));
      await child.kill();
      const [hasSource, hasDestination] = [existsSync(source), existsSync(destination)];
      const sourceWhole = hasSource && whole(source) === expected;
      if (hasDestination && whole(destination) !== expected) seen.torn += 1;
      else if (!hasDestination && !sourceWhole) seen.lost += 1;
      else if (hasDestination) seen[hasSource ? "both" : "after"] += 1;
      else seen.before += 1;
      seen.leftover += existsSync(join(to, "parent"))
        ? readdirSync(join(to, "parent")).filter((name) => name.startsWith(".tmp-")).length
        : 0;
      for (const path of [source, join(to, "parent")]) rmSync(path, { recursive: true, force: true });
    }
    console.log(`kill -9 during a cross-device move: ${count} rounds, ${JSON.stringify(seen)}`);
    expect(seen).toMatchObject({ torn: 0, lost: 0 });
  },
  suiteTimeout,
);

async function settled(child: ToolChild): Promise<number> {
  const start = performance.now();
  while (child.answers.length === 0) await sleep(1);
  return performance.now() - start;
}

function sizeOf(path: string): number[] {
  const { size, mode } = statSync(path);
  return [size, mode];
}
