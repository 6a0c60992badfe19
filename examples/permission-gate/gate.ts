import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Guard, ToolRegistry } from "@toolcrib/core";
import { createPolicy } from "@toolcrib/policy";
import { createBashTools } from "@toolcrib/tools-bash";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";

const secrets = [".env", "*.pem"];

/** A rule of our own: while a file FREEZE lies in the project, nothing is changed there, whoever says yes. */
export function freeze(root: string): Guard {
  return ({ effects, tool }) => {
    // Any command counts as a change, and so does a tool that does not say what it does, unless it is known to read.
    const changes = effects ? effects.some(({ kind }) => kind !== "read") : !tool.readOnly;
    if (!changes || !existsSync(join(root, "FREEZE"))) return true;
    return "the project is frozen for a release; remove the file FREEZE first";
  };
}

/** File, search and shell tools that ask before they do what no rule allows. */
export function createGuardedTools(root: string): ToolRegistry {
  const paths = { root, deny: secrets };
  const tools = [
    ...createFsTools(paths),
    ...createSearchTools(paths),
    ...createBashTools({ cwd: root, scrubEnv: true }),
  ];
  const policy = createPolicy({
    roots: root,
    allow: ["write_file(docs/**)", "edit_file(docs/**)", "run_bash(npm test)"],
    deny: [...secrets.map((pattern) => `effect:read(${pattern})`), "run_bash(git push *)"],
    denied: secrets,
  });
  // Every guard is asked. One denial is enough; a question needs a yes.
  return new ToolRegistry(tools).guard(policy.guard).guard(freeze(root));
}
