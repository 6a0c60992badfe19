// The reports in packages/NAME/api against what is built, and what has changed since the last release against the changesets.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compareApi } from "./compareApi.mjs";
import { makeReports, readReports, writeReports } from "./reports.mjs";
import { missingChangesets, readChangesets } from "./requiredBump.mjs";

const renew = "npm run contracts -- --update";

/** Finds the faults below `root`, one line each. `task` is "check", "update" (the reports are written anew first) or "released" (nothing is checked). */
export async function checkContracts(root, task) {
  const problems = [];
  for (const name of readdirSync(join(root, "packages"))) {
    const folder = join(root, "packages", name);
    if (!existsSync(join(folder, "package.json"))) continue;
    if (task === "released") writeReports(join(folder, "api/released"), readReports(join(folder, "api")));
    else problems.push(...(await checkPackage(root, folder, task)));
  }
  return [...new Set(problems)];
}

async function checkPackage(root, folder, task) {
  const problems = [];
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const now = await makeReports(folder, join(root, "node_modules/.cache/contracts"));
  if (task === "update") writeReports(join(folder, "api"), now);
  const kept = readReports(join(folder, "api"));
  const stale = [...new Set([...kept.keys(), ...now.keys()])].filter((file) => kept.get(file) !== now.get(file));
  if (stale.length > 0)
    problems.push(`${manifest.name}: out of date: api/${stale.join(", api/")}. Renew with: ${renew}`);
  const released = readReports(join(folder, "api/released"));
  // A package that was never released has promised nothing.
  if (released.size === 0) return problems;
  const changes = await changesBetween(manifest.name, released, now);
  return [...problems, ...missingChangesets(manifest, changes, readChangesets(join(root, ".changeset")))];
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
  const { compareManifests, readManifest } = await import("../../packages/contracts/dist/index.js");
  const [was, is] = [before, after].map((text) =>
    text === undefined ? { tools: [] } : readManifest(JSON.parse(text)),
  );
  return compareManifests(was, is);
}
