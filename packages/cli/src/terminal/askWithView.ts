import { type Asker, isYes } from "./ask.ts";
import { showText } from "./question.ts";

export interface Paging {
  readonly asker: Asker;
  readonly signal: AbortSignal;
}

/** An answer that a question offers, beside a look at all of it and a no. */
export interface Offer<Answer> {
  readonly shown: string;
  isMeant(typed: string): boolean;
  answer(typed: string): Answer | Promise<Answer>;
}

interface ViewedQuestion<Answer> {
  readonly rows: readonly string[];
  /** All that there is to see, a page at a time. */
  readonly all: readonly string[];
  readonly offers: readonly Offer<Answer>[];
}

/** Asks again after each answer that wants to see more, and after a slip of the finger. Undefined when the user left the question. */
export async function askWithView<Answer>(
  { rows, all, offers }: ViewedQuestion<Answer>,
  { asker, signal }: Paging,
): Promise<Answer | string | undefined> {
  const { columns, rows: free } = asker.size;
  const choices = `${[...offers.map(({ shown }) => shown), "[v]iew", "[n]o"].join(", ")}, or why not, then Enter:`;
  /** Breaks a question between words; the answer is typed behind it. */
  const ending = (text: string): string => `${showText(text, columns).join("\n")} `;
  const page = Math.max(8, free - 3 - showText(choices, columns).length);
  let shownQuestion = [...rows, ending(choices)].join("\n");
  for (let shown = 0; ; ) {
    if (signal.aborted) return undefined;
    const typed = (await asker.ask(shownQuestion, signal))?.trim();
    if (typed === undefined) return undefined;
    const meant = offers.find((offer) => offer.isMeant(typed));
    if (meant) return meant.answer(typed);
    if (isSlip(typed)) {
      shownQuestion = ending(`${typed} is none of ${choices}`);
      continue;
    }
    if (!/^v(iew)?$/i.test(typed)) return noOf(typed);
    const part = all.slice(shown, shown + page);
    const place = `(rows ${shown + 1} to ${shown + part.length} of ${all.length}`;
    shown = shown + page < all.length ? shown + page : 0;
    const next = shown > 0 ? "; v shows the next)" : ")";
    shownQuestion = [...part, `${place}${next}`, ending(choices)].join("\n");
  }
}

/** Returns whether an answer is one that other questions offer, a number or a single character: no reason for a no. */
function isSlip(typed: string): boolean {
  return isYes(typed) || /^u(p to)?\s*\d*$/i.test(typed) || (/^(?:\d+|.)$/u.test(typed) && !/^[nv]$/i.test(typed));
}

/** Words a no for the model, with the user's reason if there is one. */
function noOf(typed: string): string {
  const no = "the user said no to this call";
  return /^(no?)?$/i.test(typed) ? no : `${no}: ${typed}`;
}
