import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { nullDescriptors } from "./inheritedDescriptors.ts";

const script = `
const { runShell } = await import(${JSON.stringify(new URL("./runShell.ts", import.meta.url).href)});
const { stdout } = await runShell({
  file: "/bin/sh", args: ["-c", "readlink /proc/self/fd/100; ls /dev/fd/3 2>&1"], cwd: "/", env: process.env, mark: "none", timeoutMs: 60_000,
});
console.log(stdout);`;

// With a gap below it, such a descriptor is not one that Node keeps for itself.
test.runIf(process.platform === "linux").each([
  ["a command does not get the descriptors that this program inherited", "exec", /^\/dev\/null\n/],
  [
    "a descriptor above the limit of this program does not prevent a command from starting",
    "ulimit -n 90; exec",
    /^.*inheritedDescriptors\.test\.ts\n/,
  ],
])("%s", (_, exec, printed) => {
  const secret = openSync(import.meta.filename, "r");
  const stdio = [..."ignore pipe inherit".split(" "), ...Array(97).fill("ignore"), secret];
  const words = [process.execPath, "--input-type=module-typescript", "-e", script];
  const { stdout } = spawnSync("/bin/sh", ["-c", `${exec} "$@"`, "sh", ...words], { stdio, encoding: "utf8" });
  closeSync(secret);
  expect(stdout).toMatch(printed);
});

test("each is replaced by a descriptor of its own, as one runtime passes none on twice", () => {
  expect(new Set(nullDescriptors(3)).size).toBe(3);
  expect(nullDescriptors(2)).toBe(nullDescriptors(3));
});
