import type { GuardedCall, ToolEffect } from "@toolcrib/core";
import { isInside } from "@toolcrib/kit/files";
import { oneLine } from "./describe.ts";
import type { Rememberable } from "./remembered/rememberable.ts";
import type { Settings } from "./settings.ts";
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
  /**
   * A folder: the user may allow more calls of the same program by one answer, `{ upTo: n }`, with effects of the same kinds below it. The policy
   * names the root; a program narrows it to what the calls shown have in common. Absent if a rule asks, a path is protected, or it is not known
   * which files of one root the call would touch.
   */
  readonly upTo?: string;
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
  { mode, roots }: Pick<Settings, "mode" | "roots">,
  remember: Rememberable | undefined,
): PolicyQuestion {
  const upTo = call.within === undefined ? undefined : sharedRoot(call, asked, roots);
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
    ...(upTo === undefined ? {} : { upTo }),
  };
}

/** Returns the nearest root in which all the files lie that the call would touch, if the mode alone asks about it. */
function sharedRoot(
  { effects = [] }: GuardedCall,
  asked: readonly Verdict[],
  roots: readonly string[],
): string | undefined {
  if (!asked.every(({ cause }) => cause.by === "mode")) return undefined;
  const paths = effects.map(({ path, remote }) => (remote === undefined ? path : undefined));
  const shared = roots.filter((root) => paths.every((path) => path !== undefined && isInside(root, path)));
  return paths.length === 0 ? undefined : shared.sort((one, other) => other.length - one.length)[0];
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
