// What `toolcrib init` makes: the command from its tarball, the project installed, tested, checked, and its agent started without a key.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeBinary, nodeVersions, npmInstall, run, workspace } from "../project.mjs";
import { npmProject, tarballs } from "../tarballs.mjs";

export const initProject = [["a project made by toolcrib init", makeAndRun, { short: true }]];

async function makeAndRun() {
  const command = await npmProject("init-command", { packages: ["@toolcrib/cli"], manifest: { overrides: tarballs } });
  const folder = join(workspace, "My Agent");
  const { stdout } = await run(command, "npx", ["toolcrib", "init", folder]);
  if (!/^Created the project my-agent\. To try it:\n\n {2}cd .*My Agent'\n {2}npm install\n {2}npm test\n/.test(stdout))
    throw new Error(`it says:\n${stdout}`);
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { version } = JSON.parse(readFileSync(join(command, "node_modules/@toolcrib/cli/package.json"), "utf8"));
  for (const [name, range] of Object.entries(manifest.dependencies)) {
    if (range !== `^${version}`) throw new Error(`${name} is wanted as ${range}, not as ^${version}`);
    // Not published yet.
    manifest.dependencies[name] = tarballs[name];
  }
  writeFileSync(path, JSON.stringify({ ...manifest, overrides: tarballs }, undefined, 2));
  await npmInstall(folder);
  await run(folder, "npm", ["test"]);
  await run(folder, "npm", ["run", "types"]);
  const unset = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", OPENROUTER_API_KEY: "", OLLAMA_HOST: "127.0.0.1:9" };
  // The oldest Node that runs TypeScript as it is.
  for (const node of [process.execPath, await nodeBinary(nodeVersions.oldest)]) {
    const end = await run(folder, node, ["src/main.ts", "list src"], { env: unset });
    if (!end.stdout.includes("agent.ts")) throw new Error(`it prints:\n${end.stdout}${end.stderr}`);
  }
}
