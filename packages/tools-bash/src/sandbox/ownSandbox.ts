import { lstatSync, readdirSync } from "node:fs";
import { isAbsolute } from "node:path";
import { attempt, type OptionSpecs, option } from "@toolcrib/core/internal";
import { isObject, messageOf } from "@toolcrib/core/text";
import { type DenyRules, isInside } from "@toolcrib/kit/files";
import { type BytePath, toBytePath, toText } from "./bytePath.ts";
import { createDeniedSearch } from "./deniedPaths.ts";
import { createProtectedWatch, type FoundProtected, findProtected } from "./protectedPaths.ts";
import { available, type EnteredSandbox, type SandboxedCommand, unavailable } from "./sandbox.ts";
import { outermost, toSystemPath } from "./treeWalk.ts";

/** One command that a sandbox of your own is to wrap. */
export interface CommandToWrap extends SandboxedCommand {
  /** Canonical paths in `confinement.writable` that the command must not change, replace, remove or move. They exist. */
  readonly protectedPaths: readonly string[];
  /** Canonical paths of files and directories that the command must not open. They exist. */
  readonly deniedPaths: readonly string[];
}

/** The program that runs a command in a sandbox of your own. */
export interface WrappedCommand {
  /** Absolute: on PATH a project may have put a program of its own. */
  readonly file: string;
  readonly args: readonly string[];
  /** Variables to set for the program, beside those that it inherits. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * True if processes that the command started end with the program, as in a namespace of processes. If not, they are looked for and
   * reported. Default: false.
   */
  readonly endsAll?: boolean | undefined;
  /** Called once, when the program has ended or could not be started. */
  readonly ended?: (() => void) | undefined;
}

/** The guarantees of a sandbox of your own. These are your claims: the tool believes them. */
export interface SandboxConfinement {
  /** Its description, a few words for questions. A yes for good holds for the same words only. */
  readonly words: string;
  /** Absolute paths of the existing directories that commands can change; empty if they change none of this machine. */
  readonly writable: readonly string[];
  /** True if commands reach the network; an array lists the hosts that they reach. */
  readonly network: boolean | readonly string[];
  /** True if it keeps the `protectedPaths` of a command. If not, it is taken only with `unprotected: ["./"]`. */
  readonly protects: boolean;
  /** True if it keeps the `deniedPaths` of a command. If not, it is not taken beside `deny`. */
  readonly denies: boolean;
}

/** A sandbox of your own, for the option `sandbox`. */
export interface OwnSandbox {
  readonly confinement: SandboxConfinement;
  /** Returns the program that runs the command confined. If it throws, the call fails and nothing is run. */
  wrap(command: CommandToWrap): WrappedCommand | Promise<WrappedCommand>;
  /** Resolves to the reason why it is not available, or to undefined if it is. */
  problem?(): Promise<string | undefined>;
  /** Protected paths that commands may change, as patterns like those of `deny`; `./` lets all through. Default: none. */
  readonly unprotected?: readonly string[] | undefined;
}

/** A sandbox of the caller's own, as the tool uses it. */
export interface OwnSandboxUse {
  readonly own: OwnSandbox;
  readonly writable: readonly string[];
  problem(): Promise<string | undefined>;
  enter(command: SandboxedCommand): Promise<EnteredSandbox>;
}

const longestWords = 200;

const words: (value: unknown) => boolean = (value) =>
  typeof value === "string" && value.trim() !== "" && value.length <= longestWords && !/\p{Cc}/u.test(value);

const confinementSpecs: OptionSpecs<SandboxConfinement> = {
  words: { expected: `a line of at most ${longestWords} characters`, fits: words, needed: "always" },
  writable: {
    expected: "an array of absolute paths",
    fits: (value) => Array.isArray(value) && option.texts.fits(value) && value.every((path) => isAbsolute(path)),
    needed: "always",
  },
  network: {
    expected: "true, false or an array of hosts",
    fits: (value) => typeof value === "boolean" || option.texts.fits(value),
    needed: "always",
  },
  protects: { ...option.flag, needed: "always" },
  denies: { ...option.flag, needed: "always" },
};

/** The members that are checked of a sandbox of the caller's own, which may have more. */
export const ownSandboxSpecs: OptionSpecs<OwnSandbox> = {
  confinement: { ...option.plain, options: confinementSpecs, needed: "always" },
  wrap: { ...option.call, needed: "always" },
  problem: { ...option.call, needed: "if written" },
  unprotected: { ...option.texts, needed: "if written" },
};

export function isOwnSandbox(value: unknown): value is OwnSandbox {
  return isObject(value) && "wrap" in value;
}

/**
 * Makes the use of a sandbox of the caller's own. `writable` are the directories that it names, canonical; `walked` are those where denied
 * names are looked for. Throws a TypeError for a sandbox that does not hold what it would have to.
 */
export function createOwnSandbox(
  own: OwnSandbox,
  writable: readonly string[],
  walked: readonly string[],
  deny: DenyRules | undefined,
): OwnSandboxUse {
  const { confinement, unprotected = [] } = own;
  if (!confinement.protects && !unprotected.includes("./")) {
    throw new TypeError(
      'sandbox.confinement.protects is false: commands could change protected paths, such as git hooks; pass unprotected: ["./"] if they may',
    );
  }
  if (!confinement.denies && deny) {
    throw new TypeError("sandbox.confinement.denies is false, so deny would limit no command; leave deny out");
  }
  const repositories = new Set<BytePath>();
  const find = (): Promise<FoundProtected> => findProtected(writable, unprotected, repositories);
  const findDenied = createDeniedSearch(deny, [...walked, ...writable]);
  const watch = createProtectedWatch(async () => withoutPlaceholders(await find()));

  return {
    own,
    writable,
    async problem() {
      try {
        await find();
        return await own.problem?.();
      } catch (error) {
        return messageOf(error);
      }
    },
    async enter({ command, shell, cwd, env, signal }) {
      const { found, denied } = await available(async () => ({ found: await find(), denied: await findDenied() }));
      const deniedPaths = outermost([...denied.directories, ...denied.files]).map(toText);
      const protectedPaths = found.kept.filter(isText).map(toText);
      if (protectedPaths.length < found.kept.length) throw unavailable("a protected path is not UTF-8");
      const closing = deniedPaths.find((path) => [cwd, ...writable].some((place) => isInside(path, place)));
      if (closing !== undefined) throw unavailable(`${closing} is denied, and commands run there`);
      const request = { command, shell, cwd, env, signal, protectedPaths, deniedPaths };
      const wrapped = checkWrapped(await available(() => own.wrap(request)));
      return enteredOf(wrapped, protectedPaths, watch(withoutPlaceholders(found)));
    },
  };
}

function enteredOf(
  wrapped: WrappedCommand,
  kept: readonly string[],
  { findChanges, end }: ReturnType<ReturnType<typeof createProtectedWatch>>,
): EnteredSandbox {
  let isEnded = false;
  const endOnce = (): void => {
    if (isEnded) return;
    isEnded = true;
    wrapped.ended?.();
  };
  return {
    file: wrapped.file,
    args: [...wrapped.args],
    env: { ...wrapped.env },
    descriptors: [],
    kept,
    mayLeave: wrapped.endsAll !== true,
    close() {},
    // Mount points that it made in writable directories while the command ran are gone then.
    findChanges() {
      endOnce();
      return findChanges();
    },
    end() {
      try {
        endOnce();
      } finally {
        end();
      }
    },
  };
}

/**
 * Leaves out what is empty, of what is watched: some sandboxes put an empty file or folder where a protected path is missing, also for
 * other commands that run at the time. What is empty starts nothing.
 */
function withoutPlaceholders({ states, kept }: FoundProtected): FoundProtected {
  return { states: new Map([...states].filter(([path]) => !isEmpty(path))), kept };
}

function isEmpty(path: BytePath): boolean {
  const place = toSystemPath(path);
  const stats = attempt(() => lstatSync(place));
  if (stats?.isDirectory()) return attempt(() => readdirSync(place))?.length === 0;
  return stats !== undefined && !stats.isSymbolicLink() && stats.size === 0;
}

function isText(path: BytePath): boolean {
  return toBytePath(toText(path)) === path;
}

/** Throws a ToolError unless the answer of `wrap` is a program. */
function checkWrapped(wrapped: WrappedCommand): WrappedCommand {
  const isProgram =
    isObject(wrapped) &&
    option.text.fits(wrapped.file) &&
    isAbsolute(wrapped.file) &&
    option.texts.fits(wrapped.args) &&
    (wrapped.env === undefined || (isObject(wrapped.env) && Object.values(wrapped.env).every(option.text.fits))) &&
    (wrapped.ended === undefined || typeof wrapped.ended === "function");
  if (isProgram) return wrapped;
  throw unavailable("wrap returned no { file, args, env } of a program, with an absolute file");
}
