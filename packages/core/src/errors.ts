import { attempt, unreadable } from "./callSafely.ts";
import type { ToolEffect } from "./effect.ts";
import { isPlainObject, quote } from "./json.ts";

/**
 * A guard's question to the user: words for a person, and data for a program. `data.upTo`, the absolute path of a folder, lets the user
 * answer with `{ upTo: n }` if a program makes the call; what such an answer covers lies below that folder.
 */
export interface ApprovalQuestion {
  readonly text: string;
  readonly data?: unknown;
  /** Only `{ output }` answers it: a yes is not enough. */
  readonly needs?: "output" | undefined;
  /** Position of the guard that asks, set by the registry; absent for the first one, and where `needs` is set. */
  readonly guard?: number | undefined;
  /** The reason why the previous answer could not be used; set when `approve` is asked again. */
  readonly refused?: string | undefined;
}

/** The one who denied a call, and the reason. */
export interface DenialDetails {
  /**
   * `root`, `deny` and `host`: an option of the tool; `rule`, `mode` and `protected`: a policy; `guard`: any other guard; `user`: the answer
   * to a question; `system`: the operating system or Node; `tool`, unless the error says otherwise: the tool itself.
   */
  by?: "root" | "deny" | "host" | "rule" | "mode" | "protected" | "guard" | "user" | "system" | "tool";
  path?: string;
  roots?: readonly string[];
  host?: string;
  /** The rule of the policy. */
  rule?: string;
  mode?: string;
  /** The entry of a list of paths that matches. */
  pattern?: string;
}

/** A question about a call within a composite one. */
export interface WithinQuestion {
  readonly callId: string;
  readonly name: string;
  /** Those that would run. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The effects that the call would have, as its tool says; absent if it does not. */
  readonly effects?: readonly ToolEffect[];
  readonly question: ApprovalQuestion;
}

/** Details of a ToolError, by its code. */
export interface ToolErrorDetails {
  invalid_arguments: { field: string; reason: string };
  execution_failed: { cause?: unknown };
  permission_denied: DenialDetails;
  /** `tool`: the fingerprint of the tool; `args`: those that would run. A later yes holds for these alone. */
  approval_required: {
    question: ApprovalQuestion;
    tool?: string;
    args?: Readonly<Record<string, unknown>>;
    /** Only of a composite tool: the questions of calls within its own, one each. */
    within?: readonly WithinQuestion[];
  };
  not_found: { nearest?: string };
  not_available: { nearest?: string };
  timeout: { timeoutMs: number };
  aborted: { reason?: unknown };
  already_exists: { freeName: string };
  invalid_tool: { problem: string };
}

export type ToolErrorCode = keyof ToolErrorDetails;

export interface ToolErrorOptions<Code extends ToolErrorCode> {
  code: Code;
  message: string;
  /** `<unnamed>` when absent or blank. */
  toolName?: string;
  details?: ToolErrorDetails[Code];
  /** True if the model could succeed by calling again differently; a default by code when absent. */
  recoverable?: boolean;
  cause?: unknown;
}

/**
 * The base of our errors: a name, and a marker of that name by which every installed copy of a package recognises them, as `instanceof` does
 * not.
 */
export abstract class MarkedError extends Error {
  constructor(name: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = name;
    Object.defineProperty(this, markerOf(name), { value: true });
    // JSON text of an error names its message too.
    Object.defineProperty(this, "message", { enumerable: true });
  }
}

function markerOf(name: string): symbol {
  return Symbol.for(`toolcrib.${name}`);
}

/** Returns whether it is an error of that name, of this or any other installed copy of its package, or of another realm; never throws. */
export function isMarked(value: unknown, name: string): boolean {
  return attempt(() => typeof value === "object" && value !== null && markerOf(name) in value) === true;
}

const recoverableCodes: ReadonlySet<ToolErrorCode> = new Set([
  "invalid_arguments",
  "execution_failed",
  "permission_denied",
  "not_found",
  "timeout",
]);

/**
 * Any failure of a tool or a registry. Recognise it with `isToolError` and tell kinds apart by `code`:
 * two copies of this package may be installed, so `instanceof` is not reliable.
 */
export class ToolError<Code extends ToolErrorCode = ToolErrorCode> extends MarkedError {
  declare readonly name: "ToolError";
  readonly code: Code;
  readonly toolName: string;
  readonly recoverable: boolean;
  readonly details: ToolErrorDetails[Code];

  constructor(options: ToolErrorOptions<Code>) {
    super("ToolError", options.message, options.cause);
    this.code = options.code;
    const { toolName } = options;
    this.toolName = typeof toolName === "string" && toolName.trim() ? toolName : "<unnamed>";
    this.recoverable = options.recoverable ?? recoverableCodes.has(options.code);
    const details = options.details ?? ({} as ToolErrorDetails[Code]);
    this.details = options.code === "permission_denied" ? { by: "tool", ...details } : details;
  }
}

/** Optional parts of an `invalidArgument` error. */
export interface InvalidArgumentOptions {
  toolName?: string | undefined;
  cause?: unknown;
  /** Descriptions of what is wrong with other arguments. */
  more?: readonly string[];
}

/**
 * Returns the error for an argument that a tool cannot use: `Invalid arguments: FIELD: REASON`. An empty `field` means the arguments as
 * a whole.
 */
export function invalidArgument(
  field: string,
  reason: string,
  { toolName, cause, more = [] }: InvalidArgumentOptions = {},
): ToolError<"invalid_arguments"> {
  return new ToolError({
    code: "invalid_arguments",
    message: `Invalid arguments: ${[describeArgument(field, reason), ...more].join("; ")}`,
    details: { field, reason },
    cause,
    ...(toolName === undefined ? {} : { toolName }),
  });
}

/** Returns the error for a tool that cannot be registered or sent. */
export function invalidTool(toolName: string | undefined, problem: string, cause?: unknown): ToolError {
  return new ToolError({
    code: "invalid_tool",
    message: `Invalid tool ${toolName === undefined ? "<unnamed>" : quote(toolName, 100)}: ${problem}`,
    details: { problem },
    ...(toolName === undefined ? {} : { toolName }),
    cause,
  });
}

/** Writes `FIELD: REASON`; a field that is not a plain path is quoted and cut. */
export function describeArgument(field: string, reason: string): string {
  if (field === "") return reason;
  return `${/^[\w$.[\]-]{1,120}$/.test(field) ? field : quote(field, 120)}: ${reason}`;
}

/** Narrows by `code`, so that `details` has its type. */
export type AnyToolError = { [Code in ToolErrorCode]: ToolError<Code> }[ToolErrorCode];

/** Returns whether it is a ToolError of this or any other installed copy of the package, or of another realm; never throws. */
export function isToolError(value: unknown): value is AnyToolError {
  return isMarked(value, "ToolError") && attempt(() => "code" in Object(value) && "message" in Object(value)) === true;
}

/** Returns whether it is an error, also one of another realm (`node:vm`, Jest), which is not an instance of this one's Error; never throws. */
export function isError(value: unknown): value is Error {
  return (
    attempt(
      () => value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value)),
    ) === true
  );
}

/** Decides like `error instanceof RangeError`, for an error of any realm. */
export function isErrorNamed(value: unknown, name: string): value is Error {
  return isError(value) && attempt(() => value.name) === name;
}

/** Returns the message of whatever was thrown, by its shape, so of any realm; never throws. */
export function messageOf(thrown: unknown): string {
  const message: unknown = attempt(() => Object(thrown).message);
  return typeof message === "string" ? message : (attempt(() => String(thrown)) ?? unreadable);
}

/** Returns the answers that a question with `needs: "output"` offers as `data.choices`; none where the user answers in free words. */
export function choicesOf({ data }: ApprovalQuestion): readonly string[] {
  const choices: unknown = isPlainObject(data) ? data.choices : undefined;
  const isChoice = (one: unknown): one is string => typeof one === "string" && one.trim() !== "";
  return Array.isArray(choices) && choices.every(isChoice) ? [...new Set(choices)] : [];
}
