import type { Agent } from "@toolcrib/agent";
import type { ExecutableTool, ToolRegistry } from "@toolcrib/core";
import type { createProgramTools } from "@toolcrib/tools-program";

export const programTool = "run_program";

export interface ProgramFlags {
  readonly programs?: boolean | undefined;
  /** Not a flag: makes `run_program`, by `programs`. */
  readonly createPrograms?: typeof createProgramTools | undefined;
}

/** Returns the flags with what makes `run_program`, by `--programs`; nothing is loaded for it otherwise. */
export async function withPrograms<Flags extends ProgramFlags>(
  flags: Flags,
): Promise<Flags & Pick<ProgramFlags, "createPrograms">> {
  if (!flags.programs) return flags;
  const { createProgramTools } = await import("@toolcrib/tools-program");
  return { ...flags, createPrograms: createProgramTools };
}

/**
 * Adds `run_program`, where the flag asks for it, last: its description declares the tools that are on. Programs may call what the model may
 * call itself, since the permissions judge each call. `outputs`: a folder for long answers.
 */
export function addPrograms(
  registry: ToolRegistry,
  { createPrograms, disable }: ProgramFlags & { readonly disable?: readonly string[] | undefined },
  outputs: string | undefined,
): void {
  if (!createPrograms) return;
  // A question of the model is not put in passing.
  const tools = ({ name }: ExecutableTool): boolean => name !== "ask_user";
  registry.register(...createPrograms(registry, { tools, ...(outputs !== undefined && { spill: outputs }) }));
  if (disable?.includes(programTool)) registry.disable(programTool);
}

/** Returns whether a program waits for answers with which it could not go on, since there is no `run_program`. */
export function lacksPrograms({ pending, toolRegistry }: Pick<Agent, "pending" | "toolRegistry">): boolean {
  return !toolRegistry.hasTool(programTool) && pending.some(({ within }) => within !== undefined);
}
