import type { GuardedCall, ToolEffect } from "@toolcrib/core";
import { oneLine } from "./describe.ts";
import type { Rememberable } from "./remembered/rememberable.ts";
import type { Cause, Mode, Verdict } from "./verdict.ts";

/** The `data` of a policy's question, for programs. It is plain JSON. */
export interface PolicyQuestion {
  readonly tool: string;
  readonly origin: string;
  readonly mode: Mode;
  /** The cause of the question. */
  readonly decidedBy: Cause;
  readonly why: string;
  /** The effects of the call: at most 50 effects, with cut texts. */
  readonly effects: readonly ToolEffect[];
  /** Simple commands of a shell line that nothing allowed. */
  readonly commands: readonly string[];
  /** The rules that `policy.remember` would keep; absent if each such call is asked about anew. */
  readonly remember?: Rememberable;
}

const mostListed = 50;
const longestListed = 2000;

/** Writes one line: what would happen, and why that is asked. */
export function questionText(name: string, deciding: Verdict, asked: number): string {
  const more = asked > 1 ? ` (and ${asked - 1} more to ask about)` : "";
  return `${oneLine(name, 80)} would ${deciding.what}${more}; asked because ${oneLine(deciding.why, 500)}`;
}

export function questionData(
  call: GuardedCall,
  deciding: Verdict,
  asked: readonly Verdict[],
  mode: Mode,
  remember: Rememberable | undefined,
): PolicyQuestion {
  const commands = asked.flatMap(({ command }) => (command === undefined ? [] : [oneLine(command, longestListed)]));
  return {
    tool: call.name,
    origin: call.origin,
    mode,
    decidedBy: deciding.cause,
    why: deciding.why,
    effects: (call.effects ?? []).slice(0, mostListed).map(cut),
    commands: [...new Set(commands)].slice(0, mostListed),
    ...(remember === undefined ? {} : { remember }),
  };
}

/** The fields that a question shows. */
const shown = "kind path givenPath tree command shell cwd env confinement input into host remote".split(" ");

/** Copies the known fields, with long texts cut. */
function cut(effect: ToolEffect): ToolEffect {
  const fields = Object.entries(effect).filter(([name, value]) => shown.includes(name) && value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, cutValue(value)])) as unknown as ToolEffect;
}

function cutValue(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, longestListed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).slice(0, mostListed);
  return Object.fromEntries(entries.map(([name, text]) => [name.slice(0, 200), String(text).slice(0, longestListed)]));
}
