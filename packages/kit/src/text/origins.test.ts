import { expect, test } from "vitest";
import { originIn, originWithin } from "./origins.ts";

test("the origin of a tool on a remote is found again on that remote alone", () => {
  const origin = originIn("docker:web", "@toolcrib/tools-fs");
  expect(origin).toBe("docker:web: @toolcrib/tools-fs");
  expect(originWithin("docker:web", origin)).toBe("@toolcrib/tools-fs");
  for (const remote of ["docker", "web", "docker:web: @toolcrib/tools-fs"])
    expect(originWithin(remote, origin)).toBeUndefined();
});
