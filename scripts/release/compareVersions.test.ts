import { expect, test } from "vitest";
import { compareVersions } from "./compareVersions.mjs";

test("versions are in the order of semantic versioning", () => {
  // The prereleases are the example of the specification.
  const prereleases = ["alpha", "alpha.1", "alpha.beta", "beta", "beta.2", "beta.11", "rc.1"];
  const ordered = ["0.9.10", ...prereleases.map((each) => `1.0.0-${each}`), "1.0.0", "1.0.1-a-b.1", "1.0.1", "1.10.0"];
  for (const [at, one] of ordered.entries())
    for (const [otherAt, other] of ordered.entries())
      expect(Math.sign(compareVersions(one, other)), `${one} and ${other}`).toBe(Math.sign(at - otherAt));
  expect(compareVersions("1.0.0+a-1", "1.0.0+b")).toBe(0);
});
