// Holds what the packages publish to what their users rely on. In packages/NAME/api lies a report of its tools and types, and in
// api/released that of the last release.
//   node scripts/contracts.mjs             after a build: fails where a report is out of date, or a change has no changeset of its kind
//   node scripts/contracts.mjs --update    writes the reports anew
//   node scripts/contracts.mjs --released  what is in api is now released: part of `changeset version`; needs no build
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const own = join(dirname(fileURLToPath(import.meta.url)), "..");
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const root = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? own;

if (flags.some((flag) => flag !== "--update" && flag !== "--released")) {
  throw new Error(`contracts: unknown ${flags.join(" ")}; there are --update and --released`);
}
const task = flags.includes("--released") ? "released" : flags.includes("--update") ? "update" : "check";
const { checkContracts } = await import("./contracts/check.mjs");
const problems = await checkContracts(root, task);
for (const problem of problems) console.error(`contracts: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
