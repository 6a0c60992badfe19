import type { Asker } from "./ask.ts";
import { showText } from "./question.ts";

export interface Paging {
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

interface ViewedQuestion {
  readonly rows: readonly string[];
  readonly all: readonly string[];
  readonly choices: string;
  /** Returns whether an answer is none, but a slip of the finger. */
  isSlip(answer: string): boolean;
}

/** Asks again after each answer that wants to see more, and after a slip. Undefined when the user left the question. */
export async function askWithView(
  { rows, all, choices, isSlip }: ViewedQuestion,
  { asker, signal }: Paging,
): Promise<string | undefined> {
  const { columns, rows: free } = asker.size;
  /** Breaks a question between words; the answer is typed behind it. */
  const ending = (text: string): string => `${showText(text, columns).join("\n")} `;
  const page = Math.max(8, free - 3 - showText(choices, columns).length);
  let shownQuestion = [...rows, ending(choices)].join("\n");
  for (let shown = 0; ; ) {
    if (signal.aborted) return undefined;
    const answer = (await asker.ask(shownQuestion, signal))?.trim();
    if (answer !== undefined && isSlip(answer)) {
      shownQuestion = ending(`${answer} is none of ${choices}`);
      continue;
    }
    if (!/^v(iew)?$/i.test(answer ?? "")) return answer;
    const part = all.slice(shown, shown + page);
    const place = `(rows ${shown + 1} to ${shown + part.length} of ${all.length}`;
    shown = shown + page < all.length ? shown + page : 0;
    const next = shown > 0 ? "; v shows the next)" : ")";
    shownQuestion = [...part, `${place}${next}`, ending(choices)].join("\n");
  }
}
