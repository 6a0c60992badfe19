import type { ShellRequest, ShellResult } from "./shellRequest.ts";

/** Loads what runs a command, at the first one: most programs make the tool, and many never run one. */
export const loadProgramRunner = (): Promise<typeof import("./runProgram.ts")> => import("./runProgram.ts");

/**
 * Runs a command as its own process tree with standard input closed, unless `onInput` is given. At the limit, and on abort, the tree is killed; the promise
 * settles within the limit + 1 s.
 */
export async function runShell(request: ShellRequest): Promise<ShellResult> {
  const { runProgram } = await loadProgramRunner();
  return await runProgram(request);
}
