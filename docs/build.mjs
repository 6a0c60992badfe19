// Builds the site into docs/dist: the API reference first, then every page, then llms.txt.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: "1" };
const steps = [
  ["src/site/reference.mjs"],
  ["node_modules/astro/bin/astro.mjs", "build", "--silent"],
  ["src/site/llms.mjs"],
];
for (const words of steps) {
  const { status } = spawnSync(process.execPath, words, { cwd: here, env, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
console.error("docs: the site is in docs/dist; npx -y serve docs/dist shows it");
