import { relative } from "node:path";
import type { Answer, Answers, PendingCall } from "@toolcrib/agent";
import { mostUpTo, offeredFolder, oneLine } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { isInside } from "@toolcrib/kit/files";
import { isYes } from "../terminal/ask.ts";
import { askWithView, type Offer, type Paging } from "../terminal/askWithView.ts";
import { showCall, showText } from "../terminal/question.ts";
import type { Style } from "../terminal/style.ts";
import type { Permissions } from "./permissions.ts";

/** Calls that a few words describe: one, or several of one tool that do the same to files below one folder. */
interface Group {
  readonly folder: string | undefined;
  readonly kinds: string;
  readonly calls: readonly [PendingCall, ...PendingCall[]];
}

type Roots = Pick<Permissions, "roots">;

/** Asks once about calls of one program that wait together. Undefined when the user left the question. */
export async function answerToRound(
  calls: readonly PendingCall[],
  asking: Paging & { readonly style: Style; readonly permissions: Roots },
): Promise<Answers | "one-by-one" | undefined> {
  const { columns, rows: free } = asking.asker.size;
  const { permissions } = asking;
  const rowsOf = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => showText(clip(line, 300), columns - 2, "  ").map((row) => `  ${row}`));
  const most = Math.max(8, free - 7);
  const groups = groupsOf(calls);
  const each = rowsOf(calls.map(({ question }) => withoutReason(question.text)));
  const listed = each.length > most ? rowsOf(groups.map((group) => textOf(group, permissions))) : each;
  // Nobody can say yes to what no row shows.
  const isShown = listed.length <= most;
  const [{ calls: similar } = { calls: [] }] = groups;
  const [first] = similar.length === calls.length ? similar : [];
  const upTo = first && isShown ? upToText(first, permissions) : undefined;
  const all = calls.flatMap(({ question, args }, index) => [
    ...showText(`${index + 1}. ${question.text}`, columns),
    ...showCall(args, { columns, rows: Number.POSITIVE_INFINITY }).whole,
  ]);
  const toAll = (answer: Answer): Answers => Object.fromEntries(calls.map(({ callId }) => [callId, answer]));
  const offers: Offer<Answers | "one-by-one">[] = [
    ...(isShown ? [{ shown: `[y]es to all ${calls.length}`, isMeant: isYes, answer: () => toAll(true) }] : []),
    ...(first && upTo !== undefined ? [offerUpTo((count) => ({ [first.callId]: { upTo: count } }))] : []),
    {
      shown: "[o]ne by one",
      isMeant: (typed) => /^o(ne( by one)?)?$/i.test(typed),
      answer: () => "one-by-one",
    },
  ];
  const rows = [
    asking.style.bold(`The program would make ${calls.length} calls:`),
    ...(isShown ? listed : [...listed.slice(0, most), `  … ${listed.length - most} more rows`]),
    ...(upTo === undefined ? [] : showText(upTo, columns, "  ")),
  ];
  const answer = await askWithView({ rows, all, offers }, asking);
  return typeof answer === "string" && answer !== "one-by-one" ? toAll(answer) : answer;
}

/** Returns the calls in groups: those whose questions offer an answer for several by what that would cover, any other by itself. */
function groupsOf(calls: readonly PendingCall[]): Group[] {
  const groups = new Map<string, Group>();
  for (const call of calls) {
    const folder = offeredFolder(call.question);
    const kinds = [...new Set(call.effects?.map(({ kind }) => kind))].sort().join(" and ");
    const key = folder === undefined ? call.callId : JSON.stringify([call.name, kinds, folder, call.question.guard]);
    const { calls: before = [] } = groups.get(key) ?? {};
    groups.set(key, { folder, kinds, calls: [...before, call] as unknown as Group["calls"] });
  }
  return [...groups.values()];
}

function textOf({ folder, kinds, calls }: Group, permissions: Roots): string {
  const [{ name, question }] = calls;
  if (calls.length === 1 || folder === undefined) return withoutReason(question.text);
  return `${calls.length} calls of ${oneLine(name, 64)} would ${kinds} below ${folderText(folder, permissions)}`;
}

/** Says what an answer for several calls would cover; undefined where the question offers none. */
export function upToText(
  { name, question }: Pick<PendingCall, "name" | "question">,
  permissions: Roots,
): string | undefined {
  const folder = offeredFolder(question);
  if (folder === undefined) return undefined;
  return `u 50: up to 50 such calls of ${oneLine(name, 64)} in this program, below ${folderText(folder, permissions)}`;
}

function folderText(folder: string, { roots }: Roots): string {
  const root = roots.find((one) => isInside(one, folder));
  return oneLine(
    root === undefined ? folder : relative(root, folder) || (roots.length > 1 ? root : "this folder"),
    160,
  );
}

/** Offers a yes for the number of calls that is typed. */
export function offerUpTo<Result>(answer: (count: number) => Result): Offer<Result> {
  const countIn = (typed: string): number => Number(/^u(?:p to)?\s*(\d+)$/i.exec(typed)?.[1] ?? 0);
  const isMeant = (typed: string): boolean => countIn(typed) >= 1 && countIn(typed) <= mostUpTo;
  return { shown: "[u]p to", isMeant, answer: (typed) => answer(countIn(typed)) };
}

/** Returns the words of a policy's question without those on why it is asked. */
export function withoutReason(text: string): string {
  return text.replace(/; asked because .*/s, "");
}
