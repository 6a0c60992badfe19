import type { AnyToolRegistry, ExecutableTool } from "@toolcrib/core";
import { attempt } from "@toolcrib/core/internal";

/** Chooses the tools that programs may call: their names, or a function that says it of a tool. */
export type ToolChoice = readonly string[] | ((tool: ExecutableTool) => boolean);

/** Returns whether a tool states that it changes nothing. */
export function isReadOnly(tool: ExecutableTool | undefined): boolean {
  return attempt(() => tool?.readOnly) === true;
}

/** Returns whether a second run of a call does no harm. An unknown tool does nothing at all. */
export function mayRunTwice(tool: ExecutableTool | undefined): boolean {
  return !tool || isReadOnly(tool) || attempt(() => tool.idempotent) === true;
}

/**
 * Returns whether programs may call a tool. Its own `callers` decide where it has them, for and against; else the choice: the read-only
 * ones unless another was made. A program calls no other program.
 */
export function isCallable(tool: ExecutableTool, choice: ToolChoice | undefined): boolean {
  if (attempt(() => tool.composite) === true) return false;
  const callers = attempt(() => tool.callers);
  if (callers !== undefined) return callers.includes("programs");
  if (choice === undefined) return isReadOnly(tool);
  return typeof choice === "function" ? attempt(() => choice(tool)) === true : choice.includes(tool.name);
}

/** Tells whether programs may call a tool. */
export type MayCall = (tool: ExecutableTool) => boolean;

/** Returns the enabled tools that programs may call, in the order of their names. */
export function callableTools(registry: AnyToolRegistry, mayCall: MayCall): ExecutableTool[] {
  const enabled = registry.getToolNames().filter((name) => registry.isToolEnabled(name));
  const tools = enabled.flatMap((name) => registry.get(name) ?? []);
  return tools.filter(mayCall).sort((one, other) => (one.name < other.name ? -1 : 1));
}
