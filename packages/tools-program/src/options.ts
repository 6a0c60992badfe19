import type { ExecutableTool } from "@toolcrib/core";
import { type OptionSpec, type OptionSpecs, option, readOptions, withDefault } from "@toolcrib/core/internal";
import type { ToolChoice } from "./callable.ts";

export interface ProgramOptions {
  /**
   * The tools that programs may call: names, or a function of the tool. Default: those that are `readOnly`. A tool with `callers` says
   * itself whether programs may.
   */
  tools?: readonly string[] | ((tool: ExecutableTool) => boolean) | undefined;
  /** Memory of a program. Default: 64 MiB. */
  memoryBytes?: number | undefined;
  /** Stack of a program, at most 512 KiB. Default: that. */
  stackBytes?: number | undefined;
  /** Milliseconds that a program may run, the time of its calls not counted. Default: 10,000. */
  guestTimeoutMs?: number | undefined;
  /** Calls of one program. Default: 200. */
  maxCalls?: number | undefined;
  /** Read-only calls that run at once. Default: 16. */
  maxConcurrent?: number | undefined;
  /** Bytes of a program's text. Default: 256 KiB. */
  maxSourceBytes?: number | undefined;
  /** Bytes of the answer, its notice not counted: the head and the tail of a longer one are shown. Default: 50 KB. */
  maxOutputBytes?: number | undefined;
  /** Tokens of the declarations of tools in the description, estimated. Default: 3,000. */
  maxDeclarationTokens?: number | undefined;
  /** A directory for answers that are longer than may be shown; made at the first use. Nothing here ever deletes them. Default: none. */
  spill?: string | undefined;
}

/** The engine fails in hostile programs with more stack. */
const mostStackBytes = 512 * 1024;
/** The engine itself takes some 300 KB. */
const leastMemoryBytes = 2 ** 20;

const bytes = (least: number, most: number): OptionSpec => ({
  expected: `a number of bytes, ${least} to ${most}`,
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  isShown: true,
});
const choice: OptionSpec = {
  expected: "an array of names of tools, or a function of a tool",
  fits: (value) => typeof value === "function" || option.texts.fits(value),
  otherwise: "the read-only tools",
};
/** A timer takes no longer time. */
const time: OptionSpec = {
  expected: "a number of milliseconds above 0, at most 2147000000",
  fits: (value) => option.milliseconds.fits(value) && Number(value) <= 2_147_000_000,
  isShown: true,
};

const specs = {
  tools: { ...choice, needed: "if written" },
  memoryBytes: withDefault(bytes(leastMemoryBytes, 2 ** 31), 64 * 2 ** 20),
  stackBytes: withDefault(bytes(16_384, mostStackBytes), mostStackBytes),
  guestTimeoutMs: withDefault(time, 10_000),
  maxCalls: withDefault(option.whole, 200),
  maxConcurrent: withDefault(option.whole, 16),
  maxSourceBytes: withDefault(option.bytes, 256 * 1024),
  maxOutputBytes: withDefault(option.bytes, 50 * 1024),
  maxDeclarationTokens: withDefault(option.whole, 3000),
  spill: { ...option.name, needed: "if written" },
} satisfies OptionSpecs<ProgramOptions>;

/** The options with their defaults. */
export type ProgramSettings = Omit<ProgramOptions, "tools" | "spill" | Limit> & {
  readonly tools: ToolChoice | undefined;
  readonly spill: string | undefined;
} & Readonly<Record<Limit, number>>;

type Limit = Exclude<keyof ProgramOptions, "tools" | "spill">;

/** Reads the options. Throws a TypeError for wrong ones. */
export function programSettings(options: ProgramOptions): ProgramSettings {
  const { tools, spill, ...limits } = readOptions<ProgramOptions, typeof specs>("createProgramTools", options, specs);
  return { ...limits, tools, spill };
}
