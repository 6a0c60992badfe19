import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { comparePackages } from "./comparePackages.ts";
import type { PackageVersion } from "./installed.ts";

test("what cannot be read is told whatever realm its error is of, as file systems give it to tests in Jest", () => {
  const error = (message: string): Error => runInNewContext(`new Error(${JSON.stringify(message)})`) as Error;
  const packages = new Map<string, PackageVersion | Error>([
    ["@toolcrib/core", error("EIO: i/o error")],
    ["@toolcrib/agent", { name: "@toolcrib/agent", version: "0.1.0" }],
  ]);
  const others = new Map([["@toolcrib/agent", error("EIO: i/o error")]]);
  const compared = comparePackages({ folder: "/x", ranges: error("EACCES"), packages }, others);
  expect(compared).toEqual([
    {
      package: "@toolcrib/core",
      problem: "node_modules/@toolcrib/core is incomplete: EIO: i/o error. Install again: npm install",
    },
    {
      package: "@toolcrib/agent",
      installed: "0.1.0",
      problem: "nothing to compare with: there it is incomplete: EIO: i/o error",
    },
  ]);
});
