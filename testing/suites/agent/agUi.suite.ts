import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomOf } from "@toolcrib/testing/randomOf";
import { afterAll, expect, test, vi } from "vitest";
import { checkRandomThread } from "../../../packages/page/testing/agUiRuns.ts";
import { suiteSeed } from "../random.ts";

const folder = mkdtempSync(join(tmpdir(), "ag-ui-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const threads = process.env.TOOLCRIB_ROUNDS === undefined ? 100 : 1000;

test(`${threads * 5} random runs, stopped anywhere: AG-UI's clients accept every event, and nothing stays open`, {
  timeout: 0,
}, async () => {
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  for (let thread = 0; thread < threads; thread += 1) {
    const random = randomOf(suiteSeed + thread);
    expect(await checkRandomThread(random, 5, join(folder, `${thread}.jsonl`)), `thread ${thread}`).toEqual([]);
  }
  expect(warnings.mock.calls).toEqual([]);
  warnings.mockRestore();
});
