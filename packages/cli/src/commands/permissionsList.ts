import type { ExitReason } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { addPermissionFlags } from "../tools/flags.ts";
import { createPermissions, describePermissions, type PermissionFlags } from "../tools/permissions.ts";
import { rootsOf } from "../tools/toolSet.ts";
import type { DefineCommand } from "./defineCommand.ts";

/** `toolcrib permissions list`: what the flags mean, and the answers that are remembered for this directory. */
export const define: DefineCommand = (command, action) =>
  addPermissionFlags(command, "ask").option("--json", "the answers, as JSON").action(action(permissionsList));

async function permissionsList(
  program: Program,
  flags: PermissionFlags & { readonly json?: boolean | undefined },
): Promise<ExitReason> {
  const { terminal } = program;
  const permissions = createPermissions(flags, rootsOf({}), program, "ask");
  const answers = await permissions.policy.list();
  if (flags.json) terminal.data(`${JSON.stringify(answers, null, 2)}\n`);
  else for (const line of await describePermissions(permissions)) terminal.show(`${line}\n`);
  if (answers.length === 0) terminal.aside("No answer is remembered for this directory.");
  return "ok";
}
