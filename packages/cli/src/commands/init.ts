import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureDirectory, plainSystemError } from "@toolcrib/kit/files";
import { usageError } from "../exitReasons.ts";
import { shellWord } from "../terminal/question.ts";
import { manifest, packageFile } from "../version.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

/** `toolcrib init`: a small project with an agent and a tool of its own. */
export const init: DefineCommand = defineCommand({
  arguments: [["[dir]", "the directory; created if it is missing (default: this one)"]],
  run({ terminal, cwd }, _flags, [dir = "."]) {
    const target = resolve(cwd, dir);
    if (dir === "" || statSync(target, { throwIfNoEntry: false })?.isDirectory() === false)
      throw usageError(`init ${dir}: this is not a directory; name an empty one, or one that does not exist yet`);
    const name = projectName(target);
    const files = readTemplates(name).map(([path, text]) => [join(target, path), text] as const);
    const taken = files.find(([path]) => lstatSync(path, { throwIfNoEntry: false }));
    if (taken)
      throw usageError(
        `init ${dir}: ${relative(target, taken[0])} exists, and init overwrites nothing; name another directory`,
      );
    try {
      for (const [path, text] of files) {
        ensureDirectory(dirname(path), 0o777);
        writeFileSync(path, text, { flag: "wx" });
        terminal.aside(`  ${relative(target, path)}`);
      }
    } catch (error) {
      throw plainSystemError(error, dir);
    }
    const enter = target === cwd ? "" : `  cd ${shellWord(dir)}\n`;
    terminal.show(
      `Created the project ${name}. To try it:\n\n${enter}  npm install\n  npm test\n  npm start -- "list src"\n\n` +
        "No key is needed: without one, a simple stand-in answers. README.md says how to connect a model.\n",
    );
    return "ok";
  },
});

export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-");
  return name.replace(/^[._-]+/, "").slice(0, 100) || "my-agent";
}

/** Reads each file by its path in the project. A leading `_` keeps npm from reading a file as one of this package. */
function readTemplates(name: string): (readonly [path: string, text: string])[] {
  const folder = fileURLToPath(packageFile("templates/init"));
  const { version, dependencies } = manifest();
  // In the workspace the ranges are those of pnpm.
  const rangeOf = (key: string): string => (dependencies[key] ?? "").replace(/^workspace:.*/, `^${version}`);
  const fill = (text: string): string =>
    text.replace(/\{\{([^}]+)\}\}/g, (_all, key: string) => (key === "name" ? name : rangeOf(key)));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [
      join(relative(folder, parentPath), name.replace(/^_/, "")),
      fill(readFileSync(join(parentPath, name), "utf8")),
    ]);
}
