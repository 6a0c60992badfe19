import { checkOptions, type ExecutableTool, isPlainObject, type KnownOptions, type ToolContext } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import type { BashToolOptions } from "@toolcrib/tools-bash";
import type { FsToolOptions } from "@toolcrib/tools-fs";
import type { SearchOptions } from "@toolcrib/tools-search";

/** Options of `createDefaultToolRegistry`. */
export interface DefaultToolOptions {
  /** One directory or several that the file and search tools may not leave. Default: no limit. */
  root?: string | readonly string[] | undefined;
  /** Patterns of paths that no file or search tool comes by, and that the sandbox of `run_bash` keeps from commands. Default: none. */
  deny?: readonly string[] | undefined;
  /** One directory or several that the file and search tools may read, and nothing more, and that the sandbox of `run_bash` shows. Default: none. */
  readable?: string | readonly string[] | undefined;
  /** For the tools of `@toolcrib/tools-fs`; wins over the three above. */
  fs?: FsToolOptions;
  /** For the tools of `@toolcrib/tools-search`; wins over the three above. */
  search?: SearchOptions;
  /** For `run_bash`, and with `background` for `read_output` and `stop_command`; wins over the three above. */
  bash?: BashToolOptions;
  /**
   * The tools of the packs, where they were made already, as `connectTools` of `@toolcrib/mcp` makes those of another place: in place of our own, and of the six options above.
   * By their usual names: `edit_file` and `apply_patch` are left out, as they are of ours, and any other name is a TypeError.
   */
  packs?: readonly ExecutableTool[];
  /** Names to enable; `remove`, `run_bash` and its two companions are disabled otherwise. */
  enable?: readonly string[] | undefined;
  /** Names to disable; wins over `enable`. */
  disable?: readonly string[];
  /** More tools, registered (enabled) after the ten. */
  extra?: readonly ExecutableTool[] | undefined;
}

const contextKeys = ["systemPrompt", "sessionContext", "sessionContextFilePath"] as const;

/** Throws a TypeError unless given a context: options in its place would have no effect. */
export function checkContext(context: ToolContext): void {
  if (isObject(context) && contextKeys.every((key) => key in context)) return;
  const option = isObject(context) ? Object.keys(context).find((key) => Object.hasOwn(knownOptions, key)) : undefined;
  const found = option === undefined ? "" : `; ${option} is an option`;
  throw new TypeError(
    `createDefaultToolRegistry: the first argument is the context, with ${contextKeys.join(", ")}${found}; ` +
      "without one call createDefaultToolRegistry(undefined, options)",
  );
}

/** What the packs are made with. */
const limits = ["root", "deny", "readable", "fs", "search", "bash"] as const;

export const knownOptions: KnownOptions<DefaultToolOptions> = {
  root: true,
  deny: true,
  readable: true,
  fs: true,
  search: true,
  bash: true,
  packs: true,
  enable: true,
  disable: true,
  extra: true,
};

/**
 * Throws a TypeError for invalid options. An option that limits something is also refused if it is present but undefined: a limit
 * was intended.
 */
export function checkDefaultOptions(options: DefaultToolOptions): void {
  checkOptions("createDefaultToolRegistry", options, knownOptions);
  const refuse = (option: string, expected: string): TypeError =>
    new TypeError(`createDefaultToolRegistry: ${option} must be ${expected}; leave it out for none`);
  for (const pack of ["fs", "search", "bash"] as const) {
    // Handed on by a spread, which would lose what an instance of a class inherits.
    if (pack in options && !isPlainObject(options[pack]))
      throw refuse(pack, "a plain object with the options of its pack");
  }
  const { packs, enable = [], extra = [], disable } = options;
  const lost = packs && limits.find((option) => option in options);
  if (lost !== undefined)
    throw new TypeError(`createDefaultToolRegistry: ${lost} has no effect beside packs: give it to what made them`);
  if ("packs" in options && !Array.isArray(packs)) throw refuse("packs", "an array of tools");
  if (!isListOfNames(enable)) throw refuse("enable", "an array of tool names");
  if ("disable" in options && !isListOfNames(disable)) throw refuse("disable", "an array of tool names");
  if (!Array.isArray(extra)) throw refuse("extra", "an array of tools");
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
