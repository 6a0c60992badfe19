import { showInvisible, withoutControls } from "@toolcrib/core/text";
import { CliError } from "../exitReasons.ts";
import type { Program } from "../program.ts";
import { type Keyboard, openKeyboard } from "./keyboard.ts";
import { endOfRow, type ScreenSize, widthOf } from "./question.ts";

/** A question is shown once nothing was typed for this long. Milliseconds. */
const quietMs = 150;
const longestAnswer = 2000;
/** Less of a row is too little for an answer. */
const fewestCells = 12;

export interface Asker {
  readonly size: ScreenSize;
  /** Resolves to the answer; undefined when the user left the question, or `signal` fired. */
  ask(question: string, signal: AbortSignal | undefined): Promise<string | undefined>;
}

/** A question that a yes answers. */
interface YesOrNo {
  /** The subject of the question. */
  readonly lines: readonly string[];
  readonly question: string;
  /** Refuses lines that the screen does not show at once, as nobody can have read them: what is too long, and what to do. */
  readonly tooLong?: readonly [what: string, advice: string];
}

/** Throws where the user leaves the question. */
export async function askYesNo(asker: Asker, { lines, question, tooLong }: YesOrNo): Promise<boolean> {
  if (tooLong !== undefined && isTooLong(asker, lines)) {
    throw new CliError("denied", `${tooLong[0]} to show on this screen, so it is not asked about; ${tooLong[1]}`);
  }
  const answer = await asker.ask([...lines, `${question} [y]es, [N]o: `].join("\n"), undefined);
  if (answer === undefined) throw new CliError("denied", "The question was not answered.");
  return isYes(answer);
}

/** Returns whether a screen does not show the lines at once, so that nobody can have read them. */
export function isTooLong(asker: Asker, lines: readonly string[]): boolean {
  const { columns, rows } = asker.size;
  const used = lines.reduce((sum, line) => sum + Math.ceil((2 * line.length) / columns), 0);
  return used > Math.max(2 * rows, 20);
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

/** Asks on the terminal, by `keyboard` where its keys are being read already; undefined without a terminal. */
export function terminalAsker(
  {
    host: { stdin, stderr },
    terminal,
    interrupts: { interrupt, stop },
  }: Pick<Program, "host" | "terminal" | "interrupts">,
  keyboard?: Keyboard,
): Asker | undefined {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return {
    get size() {
      const { columns, rows } = stderr;
      // A terminal that does not know its size says 0.
      return { columns: columns || 80, rows: rows || 24 };
    },
    ask: (question, signal) =>
      terminal.alone(async (write) => {
        const keys = keyboard ?? openKeyboard(stdin);
        try {
          return await readAnswer(keys, question, answerRow(stderr, write), { signal, interrupt, stop });
        } finally {
          if (!keyboard) keys.close();
        }
      }),
  };
}

interface Ends {
  readonly signal: AbortSignal | undefined;
  interrupt(): void;
  stop(): void;
}

const ctrlC = "\u0003";
const ctrlD = "\u0004";
const escapeKey = "\u001b";
const ctrlU = "\u0015";

interface AnswerRow {
  /** Writes words before the answer, which is empty then. */
  say(words: string): void;
  /** Shows the answer as it is now; of one that is too long for the row, its end. */
  show(answer: string): void;
  end(): void;
}

function answerRow(stderr: NodeJS.WriteStream, write: (text: string) => void): AnswerRow {
  const columns = stderr.columns || 80;
  let before = "";
  let shown = "";
  return {
    say(words) {
      if (before !== "" && widthOf(before) + widthOf(words) > columns) {
        write("\n");
        before = "";
      }
      write(words);
      before = withoutControls(`${before}${words}`.replace(/.*\n/s, ""));
      if (widthOf(before) + fewestCells > columns) {
        write("\n");
        before = "";
      }
    },
    show(answer) {
      const room = columns - 1 - widthOf(before);
      const next = endOfRow(answer, room);
      if (next.startsWith(shown)) write(next.slice(shown.length));
      else stderr.write(`\r${before}${" ".repeat(room)}\r${before}${next}`);
      shown = next;
    },
    end: () => write("\n"),
  };
}

/**
 * Drops what is typed until nothing was for a while, then shows the question and reads one line, echoed. Undefined when the user leaves by
 * Ctrl-C or Ctrl-D, the input ends or the signal fires.
 */
function readAnswer(
  keyboard: Keyboard,
  question: string,
  row: AnswerRow,
  { signal, interrupt, stop }: Ends,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let answer = "";
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  let check: NodeJS.Immediate | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    clearImmediate(check);
  };
  const ask = (): void => {
    isAsked = true;
    row.say(question);
  };
  const waitAndAsk = (): void => {
    cancel();
    // After a busy time the timer fires before typed keys are read; the immediate fires after.
    timer = setTimeout(() => {
      check = setImmediate(ask);
    }, quietMs);
  };
  const type = (keys: string): void => {
    const typed = keys.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?/g, "");
    if (/[\r\n]./s.test(typed)) {
      answer = "";
      row.show(answer);
      row.say("(one line, please) ");
      return;
    }
    for (const key of typed) {
      if (key === "\r" || key === "\n") {
        resolve(answer);
        return;
      }
      if (key === "\u007f" || key === "\b") answer = answer.slice(0, -1);
      else if (key === ctrlU) answer = "";
      else if (answer.length < longestAnswer && showInvisible(key) === key && key.length === 1) answer += key;
      row.show(answer);
    }
  };
  const leave = (): void => resolve(undefined);
  const release = keyboard.take((keys) => {
    if (keys === undefined || keys.includes(ctrlD)) return leave();
    const [isEscape, isInterrupt] = [keys === escapeKey, keys.includes(ctrlC)];
    if (!isEscape && !isInterrupt) return isAsked ? type(keys) : waitAndAsk();
    leave();
    if (isEscape) stop();
    else interrupt();
  });
  waitAndAsk();
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave);
  return promise.finally(() => {
    release();
    cancel();
    signal?.removeEventListener("abort", leave);
    if (isAsked) row.end();
  });
}

export interface Choice {
  readonly text: string;
  /** A heading: the choices below it are shown after those without one. */
  readonly group?: string | undefined;
}

/** Lets the user pick one: its number from 0; undefined where the user picks none. */
export type PickChoice = (choices: readonly Choice[]) => Promise<number | undefined>;

export interface ShownChoice {
  readonly index: number;
  readonly text: string;
  /** Set on the first of a group. */
  readonly heading: string | undefined;
}

/** Orders choices as they are shown, and numbers them as they came. */
export function shownChoices(choices: readonly Choice[], indices: Iterable<number> = choices.keys()): ShownChoice[] {
  const groups = [...new Set([undefined, ...choices.map(({ group }) => group)])];
  const found = [...indices];
  return groups.flatMap((group) =>
    found
      .filter((index) => choices[index]?.group === group)
      .map((index, at) => ({ index, text: choices[index]?.text ?? "", heading: at === 0 ? group : undefined })),
  );
}

const mostRows = 20;

/** Lists choices with their numbers from 1; of many the first, and `more` about the others. */
export function numberedRows(choices: readonly Choice[], more = "", most: number = mostRows): string {
  const rows = shownChoices(choices)
    .slice(0, most)
    .flatMap(({ index, text, heading }) => [
      ...(heading === undefined ? [] : [`${heading}:`]),
      `${String(index + 1).padStart(3)}  ${showInvisible(text)}`,
    ]);
  const left = choices.length - most;
  if (left > 0) rows.push(`  … and ${left} more${more}`);
  return rows.join("\n");
}

/** Picks by number, where rows cannot change. */
export function pickByNumber(asker: Asker, note: (text: string) => void): PickChoice {
  return async (choices) => {
    note(numberedRows(choices, "; their numbers count here, too"));
    const answer = await asker.ask("Number: ", undefined);
    return /^\d+$/.test(answer?.trim() ?? "") ? Number(answer) - 1 : undefined;
  };
}
