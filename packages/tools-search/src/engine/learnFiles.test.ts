import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FileMemory, memoryOf } from "../memory/fileMemory.ts";
import { createFileLearner } from "./learnFiles.ts";

const root = sharedFolder("learn-files");
const paths = Array.from({ length: 200 }, (_, index) => join(root, `${index}.txt`));
const [early, late] = [paths.slice(0, 120), paths.slice(100)];

// A clock by which the files have not changed for long: only those are learned.
beforeAll(() => {
  for (const path of paths) writeFileSync(path, `the text of ${path}`);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3100 });
});
afterAll(() => void vi.useRealTimers());

/** As a search's thread has it: each message brings the memory anew. */
function memoryFor(tree: string): FileMemory {
  return new FileMemory(memoryOf(tree, 2 ** 26) as SharedArrayBuffer);
}

function known(memory: FileMemory): string[] {
  return paths.filter((path) => memory.find(path) !== 0);
}

test("what was left when the next search of the tree began is learned after it", async () => {
  const learner = createFileLearner();
  learner.start(memoryFor(root));
  for (const path of early) learner.add(path);
  learner.learn();
  learner.start(memoryFor(root));
  for (const path of late) learner.add(path);
  learner.learn();
  await expect.poll(() => known(memoryFor(root))).toEqual(paths);
});

test("what was left of another tree is forgotten", async () => {
  const [one, other] = [join(root, "one"), join(root, "other")];
  const learner = createFileLearner();
  learner.start(memoryFor(one));
  for (const path of early) learner.add(path);
  learner.learn();
  learner.start(memoryFor(other));
  for (const path of late) learner.add(path);
  learner.learn();
  await expect.poll(() => known(memoryFor(other))).toEqual(late);
  expect(known(memoryFor(one))).toEqual([]);
});
