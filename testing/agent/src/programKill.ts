import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@toolcrib/testing";
import { expect } from "vitest";

const child = fileURLToPath(new URL("programChild.ts", import.meta.url));

/** One life, which may end by its own SIGKILL: what it said last. */
async function live(journal: string, effects: string, moment: number): Promise<readonly unknown[]> {
  const args = [child, journal, effects, String(moment)];
  const life = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  life.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  const [code, signal] = await once(life, "close");
  expect(code === 0 || signal === "SIGKILL").toBe(true);
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

/** Counts the moments of a life that nobody ends. */
export async function countMoments(): Promise<number> {
  const folder = temporaryFolder("program-kill");
  return Number((await live(join(folder, "one.jsonl"), join(folder, "effects"), 0))[2]);
}

/**
 * Lives that end at the given moments, and one more that ends by itself. The program ends in it, no call runs twice that must not, each result that
 * the program got is that of one effect, and of each kill at most one call is in doubt. Returns where the lives were ended.
 */
export async function checkLives(moments: readonly number[]): Promise<readonly string[]> {
  const folder = temporaryFolder("program-kill");
  const [journal, effects] = [join(folder, "one.jsonl"), join(folder, "effects")];
  const kills: string[] = [];
  for (const moment of moments) {
    const [what, where] = await live(journal, effects, moment);
    if (what === "killed") kills.push(String(where));
  }
  const [what, output] = await live(journal, effects, 0);
  const context = `killed ${kills.join(", ")} (moments ${moments.join()})`;
  expect(what, context).toBe("ends");
  const ran = existsSync(effects) ? readFileSync(effects, "utf8").split("\n").slice(0, -1) : [];
  const charges = ran.filter((line) => line.startsWith("charge "));
  expect(new Set(charges).size, context).toBe(charges.length);
  // Killed before it had begun.
  if (output === "Error executing run_program: Not run: aborted") {
    expect(ran, context).toEqual([]);
    return kills;
  }
  const told: readonly string[] = JSON.parse(String(output));
  const doubtful = told.filter((one) => one === "Error executing charge: Interrupted; may have run");
  expect(doubtful.length, context).toBeLessThanOrEqual(kills.length);
  const did = told.filter((one) => one.startsWith("did "));
  expect([told.length, did.length + doubtful.length], context).toEqual([16, 16]);
  // Each answer is for two of these.
  const answers = readFileSync(journal, "utf8").match(/^\{"type":"answers",.*"upTo":2/gm);
  const many = charges.filter((line) => /^charge c:1[456]$/.test(line));
  expect(many.length, context).toBeLessThanOrEqual(2 * (answers?.length ?? 0));
  const effectOf = new Set(ran.map((line) => line.split(" ")[1]));
  for (const one of did) expect(effectOf, context).toContain(one.slice(4));
  return kills;
}
