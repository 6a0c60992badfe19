// Holds what the packages publish to what their users rely on. In packages/NAME/api lies a report of its tools and types, and in
// api/released that of the last release.
//   node scripts/contracts.mjs             after a build: fails where a report is out of date, or a change has no changeset of its kind
//   node scripts/contracts.mjs --update    writes the reports anew
//   node scripts/contracts.mjs --released  what is in api is now released: part of `changeset version`; needs no build
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareApi } from "./contracts/compareApi.mjs";
import { makeReports, readReports, writeReports } from "./contracts/reports.mjs";
import { missingChangesets, readChangesets } from "./contracts/requiredBump.mjs";

const own = join(dirname(fileURLToPath(import.meta.url)), "..");
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const root = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? own;
const renew = "npm run contracts -- --update";
const problems = [];

if (flags.some((flag) => flag !== "--update" && flag !== "--released")) {
  throw new Error(`contracts: unknown ${flags.join(" ")}; there are --update and --released`);
}
for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  if (!existsSync(join(folder, "package.json"))) continue;
  if (flags.includes("--released")) writeReports(join(folder, "api/released"), readReports(join(folder, "api")));
  else await check(folder);
}

async function check(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const now = await makeReports(folder, join(root, "node_modules/.cache/contracts"));
  if (flags.includes("--update")) writeReports(join(folder, "api"), now);
  const kept = readReports(join(folder, "api"));
  const stale = [...new Set([...kept.keys(), ...now.keys()])].filter((file) => kept.get(file) !== now.get(file));
  if (stale.length > 0)
    problems.push(`${manifest.name}: out of date: api/${stale.join(", api/")}. Renew with: ${renew}`);
  const released = readReports(join(folder, "api/released"));
  // A package that was never released has promised nothing.
  if (released.size === 0) return;
  const changes = await changesBetween(manifest.name, released, now);
  problems.push(...missingChangesets(manifest, changes, readChangesets(join(root, ".changeset"))));
}

async function changesBetween(name, before, after) {
  const changes = [];
  for (const file of new Set([...before.keys(), ...after.keys()])) {
    const specifier = file === "index.api.md" ? name : `${name}/${file.replace(".api.md", "")}`;
    if (file === "manifest.json") changes.push(...(await toolChanges(before.get(file), after.get(file))));
    else if (!after.has(file))
      changes.push({ severity: "breaking", message: `${specifier} is gone. Code that imports it fails.` });
    else changes.push(...compareApi(before.get(file) ?? "", after.get(file), specifier));
  }
  return changes;
}

async function toolChanges(before, after) {
  const { compareManifests, readManifest } = await import("../packages/core/dist/contracts.js");
  const [was, is] = [before, after].map((text) =>
    text === undefined ? { tools: [] } : readManifest(JSON.parse(text)),
  );
  return compareManifests(was, is);
}

for (const problem of new Set(problems)) console.error(`contracts: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
