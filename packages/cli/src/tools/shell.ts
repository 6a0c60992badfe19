import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { createPathScope, findProgram, isTrustedProgram } from "@toolcrib/kit/files";
import { usageError } from "../exitReasons.ts";
import { oneLine } from "../terminal/render.ts";

/**
 * The shell of `run_bash`: the one that is named, else `bash` where it is found, as models write for it, else `sh`. Never one that the
 * tools could write. Throws a usage error.
 */
export function chooseShell(
  named: string | undefined,
  limits: { root: readonly string[]; cwd?: string | undefined },
): string {
  if (named === "sh") return named;
  const { cwd, roots = [] } = createPathScope(limits);
  const notIn = [...new Set([cwd, ...roots])].filter((folder) => folder !== "/");
  const hasBash = findProgram("bash", notIn) !== undefined;
  if (named === undefined) return hasBash ? "bash" : "sh";
  const refuse = (why: string): Error => usageError(`--shell ${oneLine(named, 200)}: ${why}`);
  if (named === "bash") {
    if (hasBash) return named;
    throw refuse("it is not on PATH, outside of the folders that tools may write; leave it out for sh");
  }
  if (!isAbsolute(named)) throw refuse("expected sh, bash or the absolute path of a shell");
  if (!statSync(named, { throwIfNoEntry: false })?.isFile()) throw refuse("there is no such program");
  if (!isTrustedProgram(named, notIn)) throw refuse(`tools could write it; name one outside of ${notIn.join(", ")}`);
  return named;
}
