import { type ExecutableTool, type GuardedCall, type ToolEffect, toolFingerprint } from "@toolcrib/core";
import { canonicalJson, isPlainObject } from "@toolcrib/core/internal";
import type { PathScope } from "@toolcrib/kit/files";
import { describeEffect, oneLine } from "../describe.ts";
import { isOfPack } from "../packOrigin.ts";
import type { Verdict } from "../verdict.ts";

/** The calls that a permanent yes to a question would cover. */
export interface Rememberable {
  /** See `RememberedAnswer.id`. */
  readonly id: string;
  /** Exactly what it would allow, in one line. */
  readonly text: string;
}

const longestSubject = 100_000;

/**
 * Describes what a yes to these questions may be kept for: this tool as it is, in these folders, to do exactly this. Undefined if each call is
 * asked about anew: a rule asks, a path is protected, or it is not known what would happen.
 */
export function rememberable(
  call: GuardedCall,
  asked: readonly Verdict[],
  folders: readonly string[],
  scope: PathScope,
): Rememberable | undefined {
  if (!asked.every(({ cause }) => cause.by === "mode")) return undefined;
  const { name, origin, tool, effects, args } = call;
  const saysAll = effects?.every(namesItsSubject) ?? false;
  const does = saysAll ? effects : { effects, args };
  if (!isJson(does, 0)) return undefined;
  const subject = canonicalJson(does);
  if (subject.length > longestSubject) return undefined;
  const bound = toolFingerprint(saysAll && isOfPack(origin, effects?.[0]?.remote) ? withoutArguments(tool) : tool);
  const key = canonicalJson([[...folders].sort(), bound, name, origin, subject]);
  // Not imported: node:crypto takes 8 ms to load, and most policies remember nothing.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const id = createHash("sha256").update(key).digest("hex");
  const what = (effects ?? []).map((effect) => describeEffect(effect, scope) + confinedAs(effect)).join(", ");
  const exactly = saysAll ? "" : `with exactly ${oneLine(canonicalJson(args), 500)}`;
  const text = [oneLine(what, 500), exactly].filter((part) => part !== "").join(" ");
  return { id, text: `${oneLine(name, 80)}: ${text}` };
}

/**
 * Returns a tool of ours as it is whatever arguments it offers: of two programs one may offer more, and what the call does is said by its
 * effects. A stranger's tool is bound as a whole.
 */
function withoutArguments(tool: ExecutableTool): ExecutableTool {
  const schema = tool.getSchema();
  return Object.create(tool, {
    getSchema: { value: () => ({ ...schema, function: { ...schema.function, parameters: {} } }) },
  });
}

/** Returns whether the effect alone says what would be done. A network effect does not say what is sent. */
function namesItsSubject({ kind, path, command }: ToolEffect): boolean {
  if (kind === "network") return false;
  return (kind === "execute" ? command : path) !== undefined;
}

function confinedAs({ confinement }: ToolEffect): string {
  return confinement === undefined ? "" : ` (${oneLine(confinement, 200)})`;
}

/** Returns whether JSON text tells two such values apart: no dates, maps or functions. */
function isJson(value: unknown, level: number): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (level > 100) return false;
  if (Array.isArray(value)) return value.every((item) => isJson(item, level + 1));
  if (!isPlainObject(value)) return false;
  return Object.values(value).every((item) => item === undefined || isJson(item, level + 1));
}
