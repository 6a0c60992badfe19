import { type AnyToolRegistry, ToolRegistry } from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { defaultMaxReplyBytes, originIn } from "@toolcrib/kit/text";
import type { ConnectedTools } from "@toolcrib/remote";
import { type FileChange, proposeChanges } from "@toolcrib/tools-fs";
import { usageError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { createPermissions, type PermissionFlags, type Permissions } from "./permissions.ts";
import { sandboxOptions } from "./sandbox.ts";
import { isNamed, rootsOf, type ToolFlags } from "./toolSet.ts";

/** Returns the flags with the tools of `--on`, which are connected until they are closed, or the program ends. Throws a usage error for what names no remote. */
export async function connectRemote<Flags extends ToolFlags & PermissionFlags>(
  flags: Flags,
  program: Program,
  conversation?: { readonly background: boolean; readonly signal?: AbortSignal | undefined },
): Promise<Flags & Pick<ToolFlags, "remote">> {
  const { on, root = ["."], sandbox, sandboxAllow } = flags;
  if (on === undefined) return flags;
  // Also so that a wrong rule connects nothing.
  const { deniedPaths: deny } = createPermissions(flags, rootsOf(flags, program.cwd), program, "ask");
  const isBoxed = sandbox || (sandbox === undefined && sandboxAllow !== undefined);
  // As here, where a model gets no more of an output at once.
  const limits = conversation && { maxReplyBytes: defaultMaxReplyBytes };
  const { terminal } = program;
  const { connectTools } = await import("@toolcrib/remote");
  try {
    terminal.tail(`Connecting to ${oneLine(on, 200)} …`);
    const remote = await connectTools(on, {
      root,
      deny,
      ...(limits && { fs: { ...limits, maxBytes: limits.maxReplyBytes }, search: limits }),
      bash: {
        scrubEnv: true,
        sandbox: isBoxed ? sandboxOptions(flags) : false,
        ...(conversation?.background && { background: true, input: isNamed("write_input", flags) }),
      },
      signal: conversation?.signal,
    });
    const close = async (): Promise<void> => {
      await remote.close();
      program.atEnd.delete(close);
    };
    program.atEnd.add(close);
    if (sandbox === undefined && !isBoxed && isNamed("run_bash", flags))
      terminal.aside(`Commands run on ${remote.name} without a sandbox (--no-sandbox leaves this line out)`);
    return { ...flags, remote: { ...remote, close, [Symbol.asyncDispose]: close } };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw usageError(error.message.replace(/^connectTools/, "--on"));
  } finally {
    terminal.tail("");
  }
}

/** Reads a file there; undefined where there is none that the tools may read. */
export async function readRemoteFile(
  { tools }: ConnectedTools,
  path: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const outcome = await new ToolRegistry(tools).invoke("read_file", { path }, { signal });
  signal?.throwIfAborted();
  return outcome.ok ? outcome.output : undefined;
}

const fileTools = "@toolcrib/tools-fs";

/** Returns the texts of files that a call would change, here or on the remote; undefined for a tool of somebody else, which may have the same name. */
export async function changesOf(
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  registry: AnyToolRegistry,
  { roots: root, deniedPaths: deny, flags: { directory: cwd, remote } }: Permissions,
  signal: AbortSignal,
): Promise<readonly FileChange[] | undefined> {
  if (registry.get(name)?.origin !== (remote ? originIn(remote.name, fileTools) : fileTools)) return undefined;
  return remote ? remote.proposeChanges(name, args, signal) : proposeChanges(name, args, { root, deny, cwd }, signal);
}
