import type { ExecutableTool, Guard, GuardedCall } from "@toolcrib/core";
import { decisiveArguments, type ScreenSize, showCall } from "../terminal/question.ts";
import { oneLine } from "../terminal/render.ts";

/** Puts a question to the user; undefined where there is nobody to ask. */
export interface Asker {
  readonly size: ScreenSize;
  /** Resolves to the answer; undefined when the user left the question, or `signal` fired. */
  ask(question: string, signal: AbortSignal | undefined): Promise<string | undefined>;
}

interface CliApproval {
  readonly guard: Guard;
  /** Whether a call was refused. */
  readonly denied: boolean;
}

interface ApprovalOptions {
  asker(): Asker | undefined;
  /** Tools of mounted servers: what they say of themselves (read-only, say) does not count. */
  readonly foreign?: ReadonlySet<ExecutableTool> | undefined;
  /** Called when the user leaves a question without an answer: to end the turn. */
  onUnanswered(): void;
}

/**
 * For `--ask`: each call of a tool that may change something waits for a yes. An answer of `a` (always) holds for this tool with
 * the same command, or on the same paths; for a tool of a mounted server, with the same arguments.
 */
export function askBeforeChanges({ asker, foreign, onUnanswered }: ApprovalOptions): CliApproval {
  // Keyed by the tool, not by its name: another tool may take the name.
  const always = new WeakMap<ExecutableTool, Set<string>>();
  let denied = false;
  // Calls that run side by side ask one after the other.
  let last: Promise<unknown> = Promise.resolve();
  const decide = async (call: GuardedCall): Promise<true | string> => {
    const { key, words } = reachOf(call, foreign?.has(call.tool) === true);
    if (always.get(call.tool)?.has(key)) return true;
    const user = asker();
    if (!user) return "this call needs approval, and there is no terminal to ask on";
    const answer = await answerOf(user, call, words);
    if (answer === undefined) {
      if (!call.signal?.aborted) onUnanswered();
      return "the user left the question unanswered";
    }
    if (/^a(lways)?$/.test(answer)) {
      always.set(call.tool, (always.get(call.tool) ?? new Set()).add(key));
      return true;
    }
    return /^y(es)?$/.test(answer) ? true : "the user said no to this call";
  };
  return {
    guard: async (call) => {
      if (call.tool.readOnly === true && !foreign?.has(call.tool)) return true;
      const decision = last.then(() => decide(call));
      last = decision.catch(() => undefined);
      const result = await decision;
      if (result !== true) denied = true;
      return result;
    },
    get denied() {
      return denied;
    },
  };
}

/** Asks again after each answer that wants to see more. */
async function answerOf(user: Asker, call: GuardedCall, reach: string): Promise<string | undefined> {
  const { summary, isCut, whole } = showCall(call.args, user.size);
  const page = Math.max(8, user.size.rows - 4);
  const choices = `[y]es, [a]lways for ${reach}, ${isCut ? "[v]iew all, " : ""}[N]o: `;
  let question = [`Run ${oneLine(call.name, 64)}?`, ...summary, choices].join("\n");
  for (let shown = 0; ; ) {
    if (call.signal?.aborted) return undefined;
    const answer = (await user.ask(question, call.signal))?.trim().toLowerCase();
    if (!isCut || !/^v(iew)?$/.test(answer ?? "")) return answer;
    const rows = whole.slice(shown, shown + page);
    const position = `(rows ${shown + 1} to ${shown + rows.length} of ${whole.length})`;
    question = [...rows, `${position} ${choices}`].join("\n");
    shown = shown + page < whole.length ? shown + page : 0;
  }
}

/** What an `always` would allow: exactly this call for commands and tools of mounted servers, else these paths, else any call of the tool. */
function reachOf({ name, args }: GuardedCall, isForeign: boolean): { key: string; words: string } {
  const named = Object.keys(args)
    .filter((key) => decisiveArguments.includes(key))
    .sort();
  const held = (keys: readonly string[]): string => JSON.stringify(keys.map((key) => [key, args[key]]));
  if (isForeign || named.includes("command"))
    return { key: held(Object.keys(args).sort()), words: "exactly this call" };
  if (named.length > 0) return { key: held(named), words: `${oneLine(name, 64)} with this ${named.join(" and ")}` };
  return { key: "", words: `any call of ${oneLine(name, 64)}` };
}
