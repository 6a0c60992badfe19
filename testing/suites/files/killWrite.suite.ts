import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createRandom, suiteSeed } from "../random.ts";
import { rounds, startToolChild, suiteTimeout } from "./child.ts";

const base = mkdtempSync(join(tmpdir(), "kill-write-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Content that holds its own number, and from which can be seen whether it is whole. */
function content(sequence: number): string {
  const body = `${sequence} `.repeat(1 + ((sequence * 7919) % 5_000));
  return `${sequence} ${createHash("sha256").update(body).digest("hex")}\n${body}`;
}

function sequenceOf(text: string): number {
  const [head, body] = [text.slice(0, text.indexOf("\n")), text.slice(text.indexOf("\n") + 1)];
  const [sequence, sum] = head.split(" ");
  return sum === createHash("sha256").update(body).digest("hex") ? Number(sequence) : Number.NaN;
}

test(
  "kill -9 during write_file: the file is never torn and no acknowledged write is lost",
  async () => {
    const path = join(base, "file");
    const count = rounds(40);
    const random = createRandom(suiteSeed);
    let [sequence, torn, lost, leftover, killedInside] = [0, 0, 0, 0, 0];
    for (let round = 0; round < count; round += 1) {
      const child = await startToolChild();
      const first = sequence + 1;
      await child.call("write_file", { path, content: content(first) });
      for (let next = 1; next <= 40; next += 1) child.send("write_file", { path, content: content(first + next) });
      await sleep(random(30));
      await child.kill();
      const acknowledged = first + child.answers.length - 1;
      sequence = first + 40;
      const found = sequenceOf(readFileSync(path, "utf8"));
      if (Number.isNaN(found)) torn += 1;
      else if (found < acknowledged || found > acknowledged + 1) lost += 1;
      const temporaries = readdirSync(base).filter((name) => name.startsWith(".tmp-"));
      if (temporaries.length > 0) killedInside += 1;
      leftover = Math.max(leftover, temporaries.length);
      for (const name of temporaries) rmSync(join(base, name));
    }
    console.log(
      `kill -9 during write_file: ${count} rounds, ${killedInside} killed inside a write, ${torn} torn, ${lost} lost, at most ${leftover} temporary left by a kill`,
    );
    expect({ torn, lost }).toEqual({ torn: 0, lost: 0 });
    expect(leftover).toBeLessThanOrEqual(1);
  },
  suiteTimeout,
);
