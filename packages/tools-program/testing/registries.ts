import { defineTool, type ExecutableTool, ToolRegistry } from "@toolcrib/core";
import { createProgramTools, type ProgramOptions } from "../src/index.ts";

type Traits = Pick<ExecutableTool, "readOnly" | "callers" | "deferred" | "outputSchema" | "composite">;

/** Returns a tool that takes any arguments; read-only unless it says otherwise. */
export function toolOf(
  name: string,
  work: (args: Record<string, unknown>) => unknown,
  traits: Traits & { readonly description?: string } = {},
): ExecutableTool {
  const { description = `Does ${name}.`, ...rest } = traits;
  const tool = defineTool({ name, description, parameters: { type: "object" }, execute: (args) => work(args) });
  return { ...tool, readOnly: true, ...rest };
}

/** Returns a registry with these tools and `run_program`. */
export function registryOf(tools: readonly ExecutableTool[], options?: ProgramOptions): ToolRegistry {
  const registry = new ToolRegistry(tools);
  registry.register(...createProgramTools(registry, options));
  return registry;
}

/** Runs a program, as the call `call`, in a registry of its own. */
export function run(code: string, tools: readonly ExecutableTool[] = [], options?: ProgramOptions): Promise<string> {
  return registryOf(tools, options).execute("run_program", { code }, { callId: "call" });
}

/** Returns a failure's words without those of the tool. */
export async function failureOf(
  code: string,
  tools?: readonly ExecutableTool[],
  options?: ProgramOptions,
): Promise<string> {
  const output = await run(code, tools, options);
  const start = "Error executing run_program: ";
  if (!output.startsWith(start)) throw new Error(`the program did not fail: ${output}`);
  return output.slice(start.length);
}

export const echo: ExecutableTool = toolOf("echo", (args) => JSON.stringify(args));
