import type { ShellRequest, ShellResult } from "./shellRequest.ts";

/**
 * Runs a command as its own process tree with standard input closed, unless `onInput` is given. At the limit, and on abort, the tree is killed; the promise
 * settles within the limit + 1 s.
 */
export async function runShell(request: ShellRequest): Promise<ShellResult> {
  // Loaded by the first command: most programs make the tool, and many never run one.
  const { runProgram } = await import("./runProgram.ts");
  return await runProgram(request);
}
