import type { GuardedCall, ToolEffect } from "@toolcrib/core";
import type { Rememberable } from "./remembered/rememberable.ts";
import type { Cause, Mode, Verdict } from "./verdict.ts";
import { oneLine } from "./words.ts";

/** What a question of a policy carries for programs, as `data`. It is plain JSON. */
export interface PolicyQuestion {
  readonly tool: string;
  readonly origin: string;
  readonly mode: Mode;
  /** What decided that it is asked. */
  readonly decidedBy: Cause;
  readonly why: string;
  /** What the call would do: at most 50 effects, with cut texts. */
  readonly effects: readonly ToolEffect[];
  /** Simple commands of a shell line that nothing allowed. */
  readonly commands: readonly string[];
  /** What `policy.remember` would keep; absent where each such call is asked about anew. */
  readonly remember?: Rememberable;
}

const mostListed = 50;
const longestListed = 2000;

/** One line: what would happen, and why that is asked. */
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

/** A copy of the known fields, with long texts cut. */
function cut({
  kind,
  path,
  givenPath,
  tree,
  command,
  shell,
  cwd,
  env,
  confinement,
  host,
  remote,
}: ToolEffect): ToolEffect {
  const short = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : text.slice(0, longestListed);
  const shortEnv = Object.entries(env ?? {})
    .slice(0, mostListed)
    .map(([name, value]) => [name.slice(0, 200), short(value)]);
  const copy = {
    kind,
    path: short(path),
    givenPath: short(givenPath),
    tree,
    command: short(command),
    shell: short(shell),
    cwd: short(cwd),
    env: env === undefined ? undefined : Object.fromEntries(shortEnv),
    confinement: short(confinement),
    host: short(host),
    remote: short(remote),
  };
  return Object.fromEntries(Object.entries(copy).filter(([, value]) => value !== undefined)) as unknown as ToolEffect;
}
