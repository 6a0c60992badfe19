// The programs of examples/, copied as their README says: installed from the tarballs, checked, tested, and started without a key.
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createProject, nodeBinary, nodeVersions, npmInstall, run } from "../project.mjs";
import { tarballs } from "../tarballs.mjs";

const source = fileURLToPath(new URL("../../../examples", import.meta.url));
const names = readdirSync(source, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
  .map(({ name }) => name);

export const examples = names.map((name) => [`example ${name}, copied`, () => copyAndRun(name)]);

async function copyAndRun(name) {
  const manifest = JSON.parse(readFileSync(join(source, name, "package.json"), "utf8"));
  for (const kind of ["dependencies", "devDependencies"]) {
    for (const dependency of Object.keys(manifest[kind]))
      manifest[kind][dependency] = tarballs[dependency] ?? manifest[kind][dependency];
  }
  // What they bring in turn.
  const given = { ...manifest.dependencies, ...manifest.devDependencies };
  manifest.overrides = Object.fromEntries(Object.entries(tarballs).filter(([dependency]) => !(dependency in given)));
  const folder = createProject(`example-${name}`, { manifest });
  const copied = (path) => !path.includes("node_modules") && !path.endsWith("package.json");
  cpSync(join(source, name), folder, { recursive: true, filter: copied });
  await npmInstall(folder);
  await run(folder, "npm", ["run", "types"]);
  await run(folder, "npm", ["test"]);
  if (!readFileSync(join(folder, "main.ts"), "utf8").includes("modelFromEnvironment()")) return;
  // The oldest Node that runs TypeScript as it is.
  for (const node of [process.execPath, await nodeBinary(nodeVersions.oldest)]) {
    const unset = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", OPENROUTER_API_KEY: "" };
    const status = name === "review-diff" || name === "docs-checker" ? 2 : 1;
    const { stderr } = await run(folder, node, ["main.ts"], { env: unset, expected: status });
    if (!stderr.includes("No model: set OPENAI_API_KEY")) throw new Error(`it says:\n${stderr}`);
  }
}
