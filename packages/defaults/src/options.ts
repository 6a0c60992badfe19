import type { ExecutableTool, ToolContext } from "@toolcrib/core";
import { isPlainObject, type OptionSpec, type OptionSpecs, option, readOptions } from "@toolcrib/core/internal";
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
  /** For `run_bash`, with `background` for `read_output` and `stop_command`, with `input` for `write_input`; wins over the three above. */
  bash?: BashToolOptions;
  /**
   * The tools of the packs, where they were made already, as `connectTools` of `@toolcrib/remote` makes those of a remote: in place of our own, and of the six options above.
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
  const option = isObject(context) ? Object.keys(context).find((key) => Object.hasOwn(optionSpecs, key)) : undefined;
  const found = option === undefined ? "" : `; ${option} is an option`;
  throw new TypeError(
    `createDefaultToolRegistry: the first argument is the context, with ${contextKeys.join(", ")}${found}; ` +
      "without one call createDefaultToolRegistry(undefined, options)",
  );
}

/** The options that the packs are made with. */
const limits = ["root", "deny", "readable", "fs", "search", "bash"] as const;

// Handed on by a spread, which would lose what an instance of a class inherits.
const packOptions: OptionSpec = {
  expected: "a plain object with the options of its pack",
  fits: isPlainObject,
  otherwise: "none",
  needed: "if written",
};
const tools: OptionSpec = { expected: "an array of tools", fits: Array.isArray, otherwise: "none" };
const names: OptionSpec = { ...option.texts, expected: "an array of tool names", otherwise: "none" };

export const optionSpecs: OptionSpecs<DefaultToolOptions> = {
  root: true,
  deny: true,
  readable: true,
  fs: packOptions,
  search: packOptions,
  bash: packOptions,
  packs: { ...tools, needed: "if written" },
  enable: names,
  disable: { ...names, needed: "if written" },
  extra: tools,
};

/**
 * Throws a TypeError for invalid options. An option that limits something is also refused if it is present but undefined: a limit
 * was intended.
 */
export function checkDefaultOptions(options: DefaultToolOptions): void {
  readOptions("createDefaultToolRegistry", options, optionSpecs);
  const unused = options.packs && limits.find((name) => name in options);
  if (unused !== undefined)
    throw new TypeError(
      `createDefaultToolRegistry: ${unused} has no effect together with packs; pass it to the function that created them`,
    );
}
