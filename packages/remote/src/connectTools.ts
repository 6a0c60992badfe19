import type { ExecutableTool } from "@toolcrib/core";
import {
  isPlainObject,
  type OptionSpec,
  type OptionSpecs,
  option,
  readOptions,
  withDefault,
} from "@toolcrib/core/internal";
import { type Address, resolveAddress } from "./address.ts";
import type { RemoteChange, RemoteOptions } from "./frames.ts";
import { Remote } from "./remote.ts";
import { createRemoteTool, proposeChanges } from "./remoteTool.ts";

export interface ConnectToolsOptions extends RemoteOptions {
  /**
   * Name of the remote in errors, effects and the origin of its tools, so what a remembered answer holds for: two remotes need two
   * names. Default: the address as text; for a command, its first word and a digest of the others and of `env`; `session` for every session.
   * What docker, ssh and kubectl read elsewhere, such as a context, is not in it.
   */
  readonly name?: string | undefined;
  /** Before each name, where the names here are taken: `web_` makes `web_read_file`. Default: none. */
  readonly prefix?: string | undefined;
  /** The path there of the Node.js to run, for every kind of address. Default: the one of the address, else the first that is found. */
  readonly node?: string | undefined;
  /** Milliseconds until the remote has to answer. Default 60,000: a container may have to start. */
  readonly startTimeoutMs?: number | undefined;
  /** Ends the connection when it fires; while it is made, `connectTools` rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The tools of another remote. */
export interface ConnectedTools extends AsyncDisposable {
  /**
   * Those of the three packs, known by their fingerprints; all enabled once they are registered, `remove` and `run_bash` too. Of any other
   * tool that the remote lists, effects are not asked for, traits are `hints` and the origin is `own`: a policy asks about it.
   */
  readonly tools: readonly ExecutableTool[];
  /** Name of the remote, in `effect.remote` too. */
  readonly name: string;
  /** The directory there in which relative paths start. */
  readonly cwd: string;
  /** The directories there that the file and search tools do not leave, for `remotes` of a policy; undefined without a limit. */
  readonly roots: readonly string[] | undefined;
  /**
   * Returns the texts that a call of `write_file`, `edit_file` or `apply_patch` would change there now, as `proposeChanges` of
   * `@toolcrib/tools-fs` gives them here; undefined for other tools. Changes nothing, and rejects as the tool would.
   */
  proposeChanges(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<readonly RemoteChange[] | undefined>;
  /** Ends what runs there, commands that tools have left behind too. Nothing of it stays there. */
  close(): Promise<void>;
}

const packOptions: OptionSpec = {
  ...option.plain,
  expected: "a plain object with the options of its pack",
  needed: "if written",
  otherwise: "none",
};

/** `root`, `deny`, `readable` and the options of packs are checked in the remote. */
const specs = {
  cwd: {
    ...option.name,
    expected: "the path of a directory there",
    needed: "if written",
    otherwise: "the one that it starts in",
  },
  root: true,
  deny: true,
  readable: true,
  fs: packOptions,
  search: packOptions,
  bash: packOptions,
  name: {
    expected: "1 to 100 visible characters",
    fits: (name) => typeof name === "string" && /^[^\p{C}]{1,100}$/u.test(name),
  },
  prefix: withDefault(
    {
      expected: "at most 32 letters, digits, _ or -",
      fits: (prefix) => typeof prefix === "string" && /^[a-zA-Z0-9_-]{0,32}$/.test(prefix),
      otherwise: "none",
    },
    "",
  ),
  node: { ...option.name, expected: "the path of a Node.js there", needed: "if written", otherwise: "the first found" },
  startTimeoutMs: withDefault(option.milliseconds, 60_000),
  signal: option.signal,
} satisfies OptionSpecs<ConnectToolsOptions>;

/**
 * Runs the packs where the files are, and gives their tools as tools here: the same names, schemas, errors, data and effects, with
 * progress, aborts and time limits carried through. What runs there is one file that is sent to `address` and runs in memory, in a
 * Node.js 22.18 or later that is found there. The roots there confine; guards here decide. A call is one round trip, and one more where a
 * guard asks for its effects. When the connection ends, calls that run fail as ones that may have completed, and the next call
 * starts it again. Throws a TypeError for wrong options, and a RemoteError if the remote cannot be used.
 */
export async function connectTools(address: Address, options: ConnectToolsOptions = {}): Promise<ConnectedTools> {
  const { name, prefix, node, startTimeoutMs, signal, ...remoteOptions } = readOptions("connectTools", options, specs);
  signal?.throwIfAborted();
  const resolved = resolveAddress(address, node);
  const { folder } = resolved;
  const there = asJson(folder === undefined ? remoteOptions : { cwd: folder, root: folder, ...remoteOptions });
  const remote = new Remote(name === undefined ? resolved : { ...resolved, name }, there, startTimeoutMs);
  const close = (): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    return remote.close();
  };
  const onAbort = (): void => void close();
  signal?.addEventListener("abort", onAbort);
  try {
    const { tools, cwd, roots } = await (await remote.connection()).ready;
    const made = tools.map((tool) => createRemoteTool(remote, tool, `${prefix}${tool.schema.function.name}`));
    return {
      tools: made,
      name: remote.name,
      cwd,
      roots: roots ?? undefined,
      proposeChanges: (called, args, signal) => proposeChanges(remote, called.slice(prefix.length), args, signal),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    if (signal?.aborted) throw signal.reason;
    throw error;
  }
}

/** Returns options as they arrive there. Throws a TypeError where something would be lost: a limit may have been meant. */
function asJson(options: RemoteOptions): RemoteOptions {
  const refuse: (path: string) => never = (path) => {
    throw new TypeError(`connectTools: ${path} cannot be sent to a remote; only JSON can`);
  };
  const around: unknown[] = [];
  const check = (path: string, value: unknown): void => {
    if (value === undefined) refuse(`${path}, which is undefined,`);
    if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return;
    if ((!Array.isArray(value) && !isPlainObject(value)) || around.includes(value)) refuse(path);
    around.push(value);
    for (const [name, item] of Object.entries(value)) check(path === "" ? name : `${path}.${name}`, item);
    around.pop();
  };
  check("", options);
  return JSON.parse(JSON.stringify(options));
}
