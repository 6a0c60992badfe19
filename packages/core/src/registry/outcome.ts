import { attempt, unreadable } from "../callSafely.ts";
import {
  type DenialDetails,
  isError,
  isToolError,
  ToolError,
  type ToolErrorCode,
  type ToolErrorDetails,
} from "../errors.ts";
import type { ContentBlock, ToolOutcome } from "../interface.ts";
import { clip, cutHead } from "../json.ts";
import { type OptionSpecs, readOptions } from "../options.ts";
import { jsonData } from "./outputData.ts";

/** Longest error message that is passed on whole, in characters (UTF-16 units). */
const longestMessage = 8192;

const outputMarker: unique symbol = Symbol.for("toolcrib.ToolOutput");

/** A tool's result that carries more than its text; made by `toolOutput`. */
export interface ToolOutput {
  readonly text: string;
  /** Rich content for the model: an image, say. */
  readonly content?: readonly ContentBlock[] | undefined;
  /** The content of the text as a JSON value of at most 256 KB, for programs and never for the model. */
  readonly data?: unknown;
}

const extraNames: OptionSpecs<Omit<ToolOutput, "text">> = { content: true, data: true };

/** Creates a tool's result with rich content or data beside the text that `execute` answers. */
export function toolOutput(text: string, extras: Omit<ToolOutput, "text">): string & ToolOutput {
  readOptions("toolOutput", extras, extraNames);
  // Typed as a string so that it can be returned where ExecutableTool wants one; the registry takes it apart, and who calls the tool
  // without a registry gets the text where a string is needed: `${output}`, JSON.parse(output).
  const output = { text, ...extras, [outputMarker]: true };
  return Object.defineProperty(output, "toString", { value: () => text }) as unknown as string & ToolOutput;
}

/** Returns the string that `ToolRegistry.execute` answers for an outcome. */
export function renderOutcome(name: string, outcome: ToolOutcome): string {
  if (outcome.ok) return outcome.output;
  const { code, message } = outcome.error;
  return code === "not_found" || code === "not_available" ? message : `Error executing ${name}: ${message}`;
}

export function notFound(name: string, nearest: string | undefined): ToolError {
  return new ToolError({
    code: "not_found",
    toolName: name,
    message: `Tool not found: ${name}${nearest === undefined ? "" : `. Did you mean ${nearest}?`}`,
    details: nearest === undefined ? {} : { nearest },
  });
}

export function notAvailable(name: string, why?: string): ToolError {
  const message = `Tool not available: ${name}${why === undefined ? "" : `: ${why}`}`;
  return new ToolError({ code: "not_available", toolName: name, message, details: {} });
}

export function timedOut(name: string, timeoutMs: number, committed: boolean): ToolError {
  const message = `Timed out after ${timeoutMs} ms${committed ? "; the change may have completed" : ""}`;
  return new ToolError({ code: "timeout", toolName: name, message, details: { timeoutMs } });
}

export function aborted(name: string, reason: unknown, committed: boolean): ToolError {
  const message = `Aborted${committed ? "; the change may have completed" : ""}`;
  return new ToolError({ code: "aborted", toolName: name, message, details: { reason } });
}

/** Returns the error of a composite tool that was stopped, with what it tells of the calls that it has made. */
export function stoppedWith({ code, toolName, message, details }: ToolError, told: string): ToolError {
  return new ToolError({ code, toolName, message: `${message}\n\n${told}`, details } as ConstructorParameters<
    typeof ToolError
  >[0]);
}

export function denied(toolName: string, reason: string, details: DenialDetails, recoverable = false): ToolError {
  const message = boundMessage(`Permission denied: ${reason}`);
  return new ToolError({ code: "permission_denied", toolName, message, details, recoverable });
}

/** Makes an error that is not recoverable: only a person can answer, whatever the model calls. */
export function approvalRequired(toolName: string, details: ToolErrorDetails["approval_required"]): ToolError {
  const message = boundMessage(`Approval required: ${details.question.text}`);
  return new ToolError({ code: "approval_required", toolName, message, details });
}

export function replaced(toolName: string): ToolError {
  const message = "Permission denied: the tool was replaced after this call was approved; call again to ask anew";
  return new ToolError({ code: "permission_denied", toolName, message });
}

/** Longest note about changed arguments, in characters. */
const longestNote = 2000;

/** Adds to what the model reads that the user has given other arguments; in front, as limits cut the end. */
export function noteChangedArguments(outcome: ToolOutcome, args: Readonly<Record<string, unknown>>): ToolOutcome {
  const note = `[the user changed the arguments to ${clip(describeValue(args), longestNote)}]`;
  if (outcome.ok) return { ...outcome, output: `${note}\n\n${outcome.output}` };
  const { code, toolName, message, details, recoverable, cause } = outcome.error;
  const told = { code, toolName, message: `${message}\n\n${note}`, details, recoverable, cause };
  return { ...outcome, error: new ToolError(told as ConstructorParameters<typeof ToolError>[0]) };
}

/** The codes that a tool itself may throw; any other becomes `execution_failed`. */
const toolCodes: ReadonlySet<ToolErrorCode> = new Set([
  "invalid_arguments",
  "execution_failed",
  "permission_denied",
  "timeout",
  "aborted",
]);

/** Returns the typed error for whatever was thrown. Only a composite tool may throw a question: one of its calls. Never throws. */
export function fromThrown(name: string, thrown: unknown, isComposite = false): ToolError {
  return attempt(() => readThrown(name, thrown, isComposite)) ?? failure(name, `${unreadable} was thrown`, thrown);
}

function readThrown(name: string, thrown: unknown, isComposite: boolean): ToolError {
  const message = boundMessage(describeThrown(thrown));
  return isToolError(thrown) ? fromToolError(name, message, thrown, isComposite) : failure(name, message, thrown);
}

function failure(toolName: string, message: string, cause: unknown): ToolError {
  return new ToolError({ code: "execution_failed", toolName, message, details: { cause }, cause });
}

function fromToolError(toolName: string, message: string, thrown: ToolError, isComposite: boolean): ToolError {
  const known = toolCodes.has(thrown.code) || (isComposite && thrown.code === "approval_required");
  return new ToolError({
    code: known ? thrown.code : "execution_failed",
    toolName,
    message,
    details: known ? thrown.details : { cause: thrown },
    recoverable: thrown.recoverable,
    cause: thrown.cause ?? thrown,
  });
}

/**
 * Returns the outcome for whatever a tool returned: a string as it is, a `toolOutput` taken apart, `(no output)` for nothing, anything else as
 * JSON text. Data of more than `mostData` bytes is left out. Never throws.
 */
export function fromReturned(returned: unknown, mostData?: number): ToolOutcome {
  if (typeof returned === "string") return { ok: true, output: returned };
  if (returned === undefined) return { ok: true, output: "(no output)" };
  return { ok: true, ...(attempt(() => takeApart(returned, mostData)) ?? { output: describeValue(returned) }) };
}

function takeApart(returned: unknown, mostData?: number): Omit<Extract<ToolOutcome, { ok: true }>, "ok"> | undefined {
  if (!isToolOutput(returned)) return undefined;
  const { text, content, data: given } = returned;
  const data = jsonData(given, mostData);
  return { output: String(text), ...(content && { content: [...content] }), ...(data !== undefined && { data }) };
}

function isToolOutput(value: unknown): value is ToolOutput {
  return typeof value === "object" && value !== null && outputMarker in value;
}

function boundMessage(message: string): string {
  if (message.length <= longestMessage) return message;
  const head = cutHead(message, longestMessage);
  return `${head}\n\n[truncated: shown ${head.length} of ${message.length} characters]`;
}

function describeThrown(thrown: unknown): string {
  if (isError(thrown)) return String(thrown.message || thrown.name || "Unknown error");
  return thrown === "" ? "Unknown error" : describeValue(thrown);
}

/** Returns a string as it is, else JSON text, or a short description where that is impossible. Never throws. */
function describeValue(value: unknown): string {
  if (typeof value === "string") return value;
  const json = attempt(() => JSON.stringify(value));
  if (json !== undefined) return json;
  if (typeof value === "object") return "[an object that cannot be written as JSON]";
  return typeof value === "function" ? "[a function]" : String(value);
}
