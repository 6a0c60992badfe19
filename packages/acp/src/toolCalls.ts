import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { AnyToolRegistry, ToolEffect } from "@toolcrib/core";
import { showLines } from "@toolcrib/core/internal";
import { clip, showInvisible } from "@toolcrib/core/text";
import { textContent } from "./output.ts";
import { fenced } from "./promptContent.ts";
import type { AcpCall, AcpFileChange, AcpSession } from "./types.ts";

const longestTitle = 240;
const longestArguments = 16_000;
const mostLocations = 50;
/** Characters of all texts of a diff together. */
const longestDiff = 2_000_000;

/** A call as a client shows it. */
export interface ShownCall {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  /** The changes that it would make, as diffs; empty for a call that changes no text. */
  readonly diffs: ToolCallContent[];
}

/** Names the call that makes a call, a program's for example. The protocol has no field for it, so clients that do not know this one show both alike. */
export function parentOf(within: string | undefined): { _meta?: { toolcrib: { parentToolCallId: string } } } {
  return within === undefined ? {} : { _meta: { toolcrib: { parentToolCallId: within } } };
}

/** Says what a call would do: by the effects of its tool, which changes nothing, and by the diff of its changes. */
export async function showCall(call: AcpCall, session: AcpSession, signal: AbortSignal): Promise<ShownCall> {
  return { ...(await showPastCall(call, session.agent.toolRegistry)), diffs: await diffsOf(call, session, signal) };
}

/** Shows the call without what it would change: of a conversation that is over. */
export async function showPastCall(call: AcpCall, registry: AnyToolRegistry): Promise<Omit<ShownCall, "diffs">> {
  const effects = await effectsOf(call, registry);
  const command = effects.find((effect) => effect.command !== undefined)?.command;
  return {
    title: titleLine(command ?? titleOf(call)),
    kind: kindOf(call.name, effects),
    locations: locationsOf(call, effects),
  };
}

/** Shows all arguments of a call before the user allows it, invisible characters as codes. */
export function argumentsContent({ args }: AcpCall): ToolCallContent {
  const shown = Object.entries(args).map(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? String(value));
    const lines = showLines(text);
    return `${showInvisible(name)}:${lines.includes("\n") ? "\n" : " "}${lines}`;
  });
  return textContent(fenced(withoutMiddle(shown.join("\n"))));
}

/** Cuts the middle out. The end counts as much as the beginning: a long command may hide what it does there. */
function withoutMiddle(text: string): string {
  if (text.length <= longestArguments) return text;
  const half = longestArguments / 2;
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n… ${left} characters are left out here; they are in the raw input …\n${text.slice(-half)}`;
}

async function effectsOf({ name, args }: AcpCall, registry: AnyToolRegistry): Promise<readonly ToolEffect[]> {
  try {
    return (await registry.get(name)?.effects?.({ ...args })) ?? [];
  } catch {
    // The arguments do not fit, or the path is outside: the call itself will say so.
    return [];
  }
}

function kindOf(name: string, effects: readonly ToolEffect[]): ToolKind {
  const does = (kind: ToolEffect["kind"]): boolean => effects.some((effect) => effect.kind === kind);
  if (does("execute")) return "execute";
  if (does("network")) return "fetch";
  if (does("write")) return name === "move" ? "move" : "edit";
  if (does("delete")) return "delete";
  if (does("read")) return name.startsWith("search") ? "search" : "read";
  return "other";
}

function locationsOf({ args }: AcpCall, effects: readonly ToolEffect[]): ToolCallLocation[] {
  const paths = new Set(effects.flatMap(({ path }) => (path === undefined ? [] : [path])));
  const { offset } = args;
  const line = paths.size === 1 && Number.isSafeInteger(offset) && Number(offset) > 0 ? { line: Number(offset) } : {};
  return [...paths].slice(0, mostLocations).map((path) => ({ path, ...line }));
}

async function diffsOf(call: AcpCall, session: AcpSession, signal: AbortSignal): Promise<ToolCallContent[]> {
  let changes: readonly AcpFileChange[] = [];
  try {
    changes = (await session.changes?.(call, signal)) ?? [];
  } catch {
    // The tool will refuse the call in its own words.
  }
  const characters = changes.reduce((sum, { before = "", after = "" }) => sum + before.length + after.length, 0);
  if (characters > longestDiff) return [];
  const diffs = changes.map(
    ({ path, before, after }): ToolCallContent => ({
      type: "diff",
      path,
      oldText: before ?? null,
      newText: after ?? "",
    }),
  );
  const hidden = changes.flatMap(({ before = "", after = "" }) => invisibleIn(after, before));
  return hidden.length === 0 ? diffs : [...diffs, textContent(invisibleWarning(hidden))];
}

/** Characters without a shape that a change would add, as codes: an editor shows nothing of them. */
function invisibleIn(after: string, before: string): string[] {
  const codes = showInvisible(after.replace(/[\n\r\t]/g, "")).match(/<U\+[0-9A-F]{4,6}>/g) ?? [];
  return [...new Set(codes)].filter((code) => {
    const character = String.fromCodePoint(Number.parseInt(code.slice(3, -1), 16));
    return after.includes(character) && !before.includes(character);
  });
}

function invisibleWarning(codes: readonly string[]): string {
  return `This change adds characters that cannot be seen: ${codes.slice(0, 20).join(" ").replace(/[<>]/g, "")}.`;
}

/** Arguments that say what a call is about, as most tools name them. */
const decisive = ["path", "source", "pattern", "query", "url", "question", "reason"];

function titleOf({ name, args }: AcpCall): string {
  const about = decisive.map((key) => args[key]).find((value) => typeof value === "string" && value !== "");
  return about === undefined ? name : `${name} ${String(about)}`;
}

/** Writes a command as a title: in one line, with a sign where two lines would read as one command. */
function titleLine(text: string): string {
  const lines = clip(text.trimEnd(), 4 * longestTitle).split("\n");
  return clip(lines.map(showInvisible).join(" ⏎ "), longestTitle);
}
