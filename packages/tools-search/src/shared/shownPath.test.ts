import { printableName } from "@toolcrib/core/text";
import { expect, test } from "vitest";
import { shownPath } from "./shownPath.ts";

test("a path is printed as the other packs print it, whatever character it holds", () => {
  const different: string[] = [];
  for (let code = 0; code <= 0xffff; code += 1) {
    const name = `a${String.fromCharCode(code)}b`;
    if (shownPath(name) !== printableName(name)) different.push(code.toString(16));
  }
  expect(different).toEqual([]);
});
