// node main.ts [PROJECT [PAGE…]]
import { globSync } from "node:fs";
import { messageOf, showInvisible } from "@toolcrib/core/text";
import { checkPage } from "./check.ts";
import { modelFromEnvironment } from "./model.ts";

try {
  const model = await modelFromEnvironment();
  const [root = ".", ...named] = process.argv.slice(2);
  const exclude = (name: string): boolean => name === "node_modules" || name.startsWith(".");
  const pages = named.length > 0 ? named : globSync("**/*.md", { cwd: root, exclude }).sort();
  for (const page of pages) {
    const problems = await checkPage(model, root, page);
    for (const { line, problem } of problems) console.log(showInvisible(`${page}:${line}: ${problem}`));
    if (problems.length > 0) process.exitCode = 1;
  }
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
