import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { randomOf } from "@toolcrib/testing/randomOf";
import { expect, test, vi } from "vitest";
import { checkRandomThread } from "../../testing/agUiRuns.ts";

test("200 random runs, stopped anywhere, end with nothing open, and the clients of 1.0 and 0.0.59 accept every event", async () => {
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const folder = temporaryFolder("ag-ui");
  const random = randomOf(58);
  for (let thread = 0; thread < 40; thread += 1)
    expect(await checkRandomThread(random, 5, join(folder, `${thread}.jsonl`)), `thread ${thread}`).toEqual([]);
  expect(warnings.mock.calls).toEqual([]);
  warnings.mockRestore();
});
