// Prints what the result of a test depends on beside files: the Node that runs it, the platform, and the programs that tests look for.
// An input of the cache of tests.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["sh", "bash", "dash", "git"];

/** The program that a name starts, told from another version by its size and date. */
function describe(name) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
    } catch {
      continue;
    }
    const { size, mtimeMs } = statSync(file);
    return `${realpathSync(file)} ${size} ${Math.floor(mtimeMs)}`;
  }
  return "missing";
}

// Tests of rights are left out for root.
console.log(`user ${process.getuid?.()}`);
console.log(`node ${process.version} on ${process.platform} ${process.arch}`);
for (const name of names) console.log(`${name} ${describe(name)}`);
