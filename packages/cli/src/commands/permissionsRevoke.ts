import { type ExitReason, usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { oneLine } from "../terminal/render.ts";
import { createPermissions } from "../tools/permissions.ts";
import { rootsOf } from "../tools/toolSet.ts";
import type { DefineCommand } from "./defineCommand.ts";

/** `toolcrib permissions revoke ID…`: forgets remembered answers of this directory. */
export const define: DefineCommand = (command, action) =>
  command.argument("<ids...>", "answers as permissions list names them, or all").action(action(permissionsRevoke));

async function permissionsRevoke(program: Program, ids: readonly string[]): Promise<ExitReason> {
  const { policy } = createPermissions({}, rootsOf({}), program, "ask");
  const known = await policy.list();
  const chosen = ids.flatMap((id) => {
    if (id === "all") return known;
    const found = known.filter((answer) => id !== "" && answer.id.startsWith(id));
    if (found.length === 1) return found;
    const problem =
      found.length > 1
        ? "more than one answer begins so; give more of it"
        : "there is no such answer; permissions list shows them";
    throw usageError(`permissions revoke ${id}: ${problem}`);
  });
  for (const { id, text } of new Set(chosen)) {
    await policy.revoke(id);
    program.terminal.show(`Forgotten: ${oneLine(text, 160)}\n`);
  }
  if (chosen.length === 0) program.terminal.note("No answer is remembered for this directory.");
  return "ok";
}
