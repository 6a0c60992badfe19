import { approval, type Middleware, type ToolCall } from "@toolcrib/core";
import { oneLine } from "./render.ts";

/** Asks the user; undefined where there is nobody to ask. */
export type Ask = ((question: string) => Promise<string>) | undefined;

export interface CliApproval {
  readonly middleware: Middleware;
  /** Whether a call was refused. */
  readonly denied: boolean;
}

/** For `--ask`: each call of a tool that may change something waits for a yes. An answer of `a` (always) holds for the tool. */
export function askBeforeChanges(ask: () => Ask): CliApproval {
  const always = new Set<string>();
  let denied = false;
  // Calls that run side by side ask one after the other.
  let last: Promise<unknown> = Promise.resolve();
  const decide = async (call: ToolCall): Promise<true | string> => {
    if (always.has(call.name)) return true;
    const put = ask();
    if (!put) return "this call needs approval, and there is no terminal to ask on";
    const answer = (await put(`Run ${oneLine(call.name, 64)} ${wholeArguments(call.args)} ? [y]es, [a]lways, [N]o `))
      .trim()
      .toLowerCase();
    if (/^a(lways)?$/.test(answer)) always.add(call.name);
    return /^(y(es)?|a(lways)?)$/.test(answer) ? true : "the user said no to this call";
  };
  return {
    middleware: approval(async (call) => {
      if (call.tool?.readOnly === true) return true;
      const decision = last.then(() => decide(call));
      last = decision.catch(() => undefined);
      const result = await decision;
      if (result !== true) denied = true;
      return result;
    }),
    get denied() {
      return denied;
    },
  };
}

const mostShown = 4000;

/** Nothing of what is approved may be hidden: as JSON, cut only where it says so. */
function wholeArguments(args: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(args).replace(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, escaped);
  return text.length <= mostShown
    ? text
    : `${text.slice(0, mostShown)} (and ${text.length - mostShown} characters more)`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
