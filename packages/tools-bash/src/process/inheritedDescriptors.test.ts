import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";

const script = `
const { runShell } = await import(${JSON.stringify(new URL("./runShell.ts", import.meta.url).href)});
const { stdout } = await runShell({
  file: "/bin/sh", args: ["-c", "readlink /proc/self/fd/100; ls /dev/fd/3 2>&1"], cwd: "/", env: process.env, mark: "none", timeoutMs: 60_000,
});
console.log(stdout);`;

test.runIf(process.platform === "linux")(
  "a descriptor above the limit of this program does not prevent a command from starting",
  () => {
    const secret = openSync(import.meta.filename, "r");
    const stdio = [..."ignore pipe inherit".split(" "), ...Array(97).fill("ignore"), secret];
    const words = [process.execPath, "--input-type=module-typescript", "-e", script];
    const { stdout } = spawnSync("/bin/sh", ["-c", 'ulimit -n 90; exec "$@"', "sh", ...words], {
      stdio,
      encoding: "utf8",
    });
    closeSync(secret);
    expect(stdout).toMatch(/^.*inheritedDescriptors\.test\.ts\n/);
  },
);

test.runIf(process.platform === "linux")("a command does not get the descriptors that this program inherited", () => {
  // With a gap below it, such a descriptor is not one that Node keeps for itself.
  const secret = openSync(import.meta.filename, "r");
  const stdio = [..."ignore pipe inherit".split(" "), ...Array(97).fill("ignore"), secret];
  const { stdout } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio,
    encoding: "utf8",
  });
  closeSync(secret);
  expect(stdout).toMatch(/^\/dev\/null\n/);
});
