import { expect, test } from "vitest";
import { rangeTakes } from "./installed.ts";

test.each([
  ["^0.1.0", "0.1.5", true],
  ["^0.1.0", "0.2.0", false],
  ["^0.0.3", "0.0.4", false],
  ["^1.2.0", "1.9.0", true],
  ["^1.2.0", "2.0.0", false],
  ["^1.2.0", "1.1.9", false],
  ["^1.2.0", "1.2.0", true],
  ["^1.2.0", "1.3.0-next.1", false],
  ["~1.2.3", "1.2.9", true],
  ["~1.2.3", "1.3.0", false],
  ["1.2.3", "1.2.4", false],
  ["1.2.3-next.1", "1.2.3-next.1", true],
  ["*", "9.0.0", true],
  ["latest", "1.0.0-next.1", false],
  [">=1 <3", "2.0.0", undefined],
  ["workspace:^", "2.0.0", undefined],
])("the range %s takes %s: %s", (range, version, expected) => {
  expect(rangeTakes(range, version)).toBe(expected);
});
