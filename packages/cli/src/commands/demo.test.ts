import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { showPromises } from "./demo.ts";

test("the demo shows a denied push, an error that helps and an undone write, in at most twenty lines", async () => {
  const text = await showPromises(temporaryFolder("promises"));
  expect(text).toMatch(/ls && git -C \. push\n {4}Error executing run_bash: Permission denied: .*git push \*/);
  expect(text).toMatch(/Error executing read_file: .*reprot\.md.*report\.md/);
  expect(text).toMatch(/undone: notes\.md holds "mine\\n" again\n$/);
  expect(text.split("\n").length).toBeLessThanOrEqual(20);
});
