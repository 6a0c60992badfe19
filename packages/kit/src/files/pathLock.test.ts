import { linkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { expect, test } from "vitest";
import { withPathLocks } from "./pathLock.ts";

/** Runs both at once and tells whether the second began before the first had ended. */
async function overlap(first: string[], second: string[]): Promise<boolean> {
  let running = 0;
  let together = false;
  const task = async (): Promise<void> => {
    running += 1;
    together ||= running > 1;
    await sleep(2);
    running -= 1;
  };
  await Promise.all([withPathLocks(first, task), withPathLocks(second, task)]);
  return together;
}

test("holders of one path, of a path above or of one below wait for each other; others do not", async () => {
  expect(await overlap(["/a/b"], ["/a/b"])).toBe(false);
  expect(await overlap(["/a"], ["/a/b/c"])).toBe(false);
  expect(await overlap(["/a/b/c"], ["/a"])).toBe(false);
  expect(await overlap(["/"], ["/x"])).toBe(false);
  expect(await overlap(["/a/b"], ["/a/bc"])).toBe(true);
  expect(await overlap(["/a", "/b"], ["/c", "/d"])).toBe(true);
});

test("two names of one file, by a hard link, are one path", async () => {
  const base = temporaryFolder("lock");
  writeFileSync(join(base, "one"), "");
  linkSync(join(base, "one"), join(base, "two"));
  expect(await overlap([join(base, "one")], [join(base, "two")])).toBe(false);
});

test("crossing pairs of paths do not deadlock, and calls run in order of arrival", async () => {
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      withPathLocks(index % 2 ? ["/a", "/b"] : ["/b", "/a"], async () => {
        await sleep(0);
        order.push(index);
      }),
    ),
  );
  expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index));
});

test("after a failed holder the next one runs", async () => {
  const failing = withPathLocks(["/a"], async () => {
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(await withPathLocks(["/a"], async () => "in")).toBe("in");
});

test("an abort ends the wait, without running and without starting others early", async () => {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ran: string[] = [];
  const held = withPathLocks(["/a"], () => gate);
  const controller = new AbortController();
  const waiting = withPathLocks(["/a"], async () => void ran.push("aborted"), controller.signal);
  const last = withPathLocks(["/a"], async () => void ran.push("last"));
  controller.abort(new Error("stop"));
  await expect(waiting).rejects.toThrow("stop");
  await sleep(2);
  expect(ran).toEqual([]);
  open();
  await Promise.all([held, last]);
  expect(ran).toEqual(["last"]);
});
