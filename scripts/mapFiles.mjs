// Prints the file map of AGENTS.md that is missing or surplus: every source file has its line there, and only those.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Source files without a line in the map, and lines without a file, as `package/file`. */
export function mapProblems() {
  const listed = new Set();
  let section = "";
  for (const line of readFileSync(join(root, "AGENTS.md"), "utf8").split("\n")) {
    section = /^### (\S+)/.exec(line)?.[1] ?? section;
    for (const [, names] of line.matchAll(/^- ((?:`[^`]+`(?:, )?)+):/g)) {
      for (const [, name] of names.matchAll(/`([^`]+)`/g)) listed.add(`${section}/${name}`);
    }
  }
  const present = readdirSync(join(root, "packages")).flatMap((name) =>
    readdirSync(join(root, "packages", name, "src"), { recursive: true })
      .filter((file) => /\.ts$/.test(file) && !/\.test(-d)?\.ts$|(^|\/)index\.ts$|fixtures/.test(file))
      .map((file) => `${name}/${file.replace(/\.ts$/, "")}`),
  );
  return {
    missing: present.filter((file) => !listed.has(file)),
    surplus: [...listed].filter((file) => !present.includes(file)),
  };
}
