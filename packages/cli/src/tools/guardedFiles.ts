import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type Middleware, ToolError } from "@toolcrib/core";
import { createPathScope, isInside, type PathScope } from "@toolcrib/core/files";
import { mcpConfigName } from "./mcpConfig.ts";

/** The arguments by which each file tool changes something: a file, its links followed, or an entry of a folder with all below it. */
const changes: Readonly<Record<string, { readonly kind: "file" | "tree"; readonly fields: readonly string[] }>> = {
  write_file: { kind: "file", fields: ["path"] },
  edit_file: { kind: "file", fields: ["path"] },
  mkdir: { kind: "file", fields: ["path"] },
  remove: { kind: "tree", fields: ["path"] },
  move: { kind: "tree", fields: ["source", "destination"] },
};

/**
 * Keeps the file tools from what makes the command start or trust something: a `.mcp.json` anywhere, what a root's own one leads to,
 * and the folder in which the command keeps what the user has allowed.
 */
export function guardOwnFiles(roots: readonly string[], state: string): Middleware {
  const scope = createPathScope({ root: roots });
  const everywhere = createPathScope();
  return async (call, next) => {
    const change = Object.hasOwn(changes, call.name) ? changes[call.name] : undefined;
    if (!change || call.refusal) return next();
    const guarded = await everywhere.resolve(state);
    for (const field of change.fields) {
      const path = await (change.kind === "tree" ? scope.resolveEntry : scope.resolve)(String(call.args[field]), field);
      refuseGuarded(path, change.kind === "tree", roots, guarded, scope);
    }
    return next();
  };
}

function refuseGuarded(path: string, tree: boolean, roots: readonly string[], state: string, scope: PathScope): void {
  const refuse = (why: string): ToolError =>
    new ToolError({
      code: "permission_denied",
      message: `Permission denied: ${scope.print(path)} ${why}`,
      recoverable: false,
    });
  const configs = [...roots, process.cwd()].flatMap((root) => canonical(join(root, mcpConfigName)));
  if (
    isConfigName(basename(path)) ||
    configs.some((config) => sameFile(path, config) || (tree && isInside(path, config)))
  )
    throw refuse(`decides which programs are started, so no tool changes it; use toolcrib mcp add, or an editor`);
  const [folded, own] = [path.toLowerCase(), state.toLowerCase()];
  if (isInside(own, folded) || (tree && isInside(folded, own)))
    throw refuse("is where toolcrib keeps what the user has allowed, so no tool changes it");
}

/** Also as a file system writes it that ignores case, or characters that are not seen, or an end of dots and spaces. */
function isConfigName(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/:.*$|[. ]+$/g, "");
  return plain.toLowerCase() === mcpConfigName;
}

/** Empty where nothing exists. */
function canonical(path: string): string[] {
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

/** Also by another name: a hard link, or another spelling. */
function sameFile(a: string, b: string): boolean {
  const [one, other] = [statsOf(a), statsOf(b)];
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

function statsOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
