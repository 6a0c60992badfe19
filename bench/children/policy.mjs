// Microseconds of processor time that a policy takes to decide a call, its effects given.
import { defineTool } from "@toolcrib/core";
import { createPolicy } from "@toolcrib/policy";
import { answer } from "../pairs.mjs";

const root = process.cwd();
const names = ["dist", "build", "coverage", "tmp", "generated", "vendor"];
const { guard } = createPolicy({
  mode: "accept-edits",
  roots: root,
  allow: [
    "write_file(src/**)",
    "effect:write(docs/)",
    "run_bash(npm test *)",
    "run_bash(npm run build)",
    "run_bash(tsc *)",
  ],
  ask: ["effect:write(package.json)", "run_bash(git push *)"],
  deny: ["effect:read(.env)", "effect:read(*.pem)", ...names.map((name) => `effect:write(${name}/)`), "run_bash(rm *)"],
});
const tool = defineTool({ name: "x", description: "x", parameters: { type: "object" }, execute: () => "" });
const call = (name, effect) => ({ name, args: {}, tool, origin: "own", effects: [effect] });
const file = () => call("write_file", { kind: "write", path: `${root}/src/some/folder/file.ts` });
/** Another one each time: a policy keeps the lines it read last. */
function line() {
  count += 1;
  const name = String(count).padStart(5, "0");
  const command = `npm test -- --watch=false src/${name}.test.ts src/2.test.ts && git status --short | grep -v test|wc -l`;
  if (command.length !== 100) throw new Error(`the line has ${command.length} characters`);
  return call("run_bash", { kind: "execute", command, cwd: root });
}
let count = 0;

const decisions = 5000;

async function microseconds(one) {
  const calls = Array.from({ length: decisions }, one);
  const started = process.cpuUsage();
  for (const made of calls) {
    if ((await guard(made)) !== true) throw new Error("not allowed");
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / decisions;
}

answer(async () => ({ count: decisions, fileUs: await microseconds(file), lineUs: await microseconds(line) }));
