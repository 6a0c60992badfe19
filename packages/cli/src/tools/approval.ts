import type { Answers, PendingCall } from "@toolcrib/agent";
import type { AnyToolRegistry, Approve } from "@toolcrib/core";
import { clip, messageOf } from "@toolcrib/core/text";
import type { PolicyQuestion } from "@toolcrib/policy";
import { diffOfChanges } from "@toolcrib/tools-fs";
import { type Asker, isYes } from "../terminal/ask.ts";
import { type ScreenSize, type ShownCall, showCall, showDiff, showText } from "../terminal/question.ts";
import type { Style } from "../terminal/style.ts";
import type { Permissions } from "./permissions.ts";
import { changesOf } from "./remote.ts";

interface Asking {
  readonly asker: Asker;
  readonly permissions: Permissions;
  readonly registry: AnyToolRegistry;
  readonly style: Style;
  readonly signal: AbortSignal;
  /** For what the user should know beside the question. */
  note(line: string): void;
}

/** Asks the user about each call that waits. Undefined when the user left a question without an answer: then nothing is answered. */
export async function answersTo(pending: readonly PendingCall[], asking: Asking): Promise<Answers | undefined> {
  const answers: Record<string, boolean | string> = {};
  for (const call of pending) {
    if (call.answer !== undefined) continue;
    const answer = await answerTo(call, asking);
    if (answer === undefined) return undefined;
    answers[call.callId] = answer;
  }
  return answers;
}

/** Answers a guard's question in place, for a call that waits for nothing else. */
export function approveOnTerminal(asking: Asking): Approve {
  return async ({ name, args, callId = "" }, question) =>
    (await answerTo({ callId, name, args, question }, asking)) ?? "the user left the question unanswered";
}

async function answerTo(call: PendingCall, asking: Asking): Promise<boolean | string | undefined> {
  const remember = (call.question.data as Partial<PolicyQuestion> | undefined)?.remember;
  const typed = await questionAbout(call, remember?.text, asking);
  if (typed === undefined) return undefined;
  if (isYes(typed)) return true;
  if (remember && /^a(lways)?$/i.test(typed)) {
    await keep(call, asking);
    return true;
  }
  if (/^(no?)?$/i.test(typed)) return "the user said no to this call";
  return `the user said no to this call: ${typed}`;
}

/** The call may run even where the answer could not be kept: it was a yes. */
async function keep({ name, args, question }: PendingCall, { permissions, registry, note }: Asking): Promise<void> {
  const tool = registry.get(name);
  if (!tool) return;
  try {
    await permissions.policy.remember({ name, args, tool }, question);
  } catch (error) {
    note(`The answer holds for this call alone: ${(error as Error).message}`);
  }
}

/** Asks again after each answer that wants to see more. */
async function questionAbout(
  call: PendingCall,
  always: string | undefined,
  asking: Asking,
): Promise<string | undefined> {
  const { asker, permissions, signal } = asking;
  const { columns, rows } = asker.size;
  const until = permissions.keepsAnswers ? "" : ", until toolcrib ends";
  const above = showText(clip(call.question.text, 600), columns);
  const below = always ? showText(`always means${until}: ${clip(always, 400)}`, columns) : [];
  const free = Math.max(8, rows - 2 - above.length - below.length);
  const { summary, isCut, whole } = await whatHappens(call, { columns, rows: free }, asking);
  const page = Math.max(8, rows - 4);
  const choices = `[y]es, ${always ? "[a]lways, " : ""}${isCut ? "[v]iew all, " : ""}[n]o, or why not: `;
  let question = [...above, ...summary, ...below, choices].join("\n");
  for (let shown = 0; ; ) {
    if (signal.aborted) return undefined;
    const answer = (await asker.ask(question, signal))?.trim();
    if (!isCut || !/^v(iew)?$/i.test(answer ?? "")) return answer;
    const part = whole.slice(shown, shown + page);
    question = [...part, `(rows ${shown + 1} to ${shown + part.length} of ${whole.length}) ${choices}`].join("\n");
    shown = shown + page < whole.length ? shown + page : 0;
  }
}

/** The diff of a change of a file; else the arguments. */
async function whatHappens(
  call: PendingCall,
  size: ScreenSize,
  { permissions, registry, style, signal }: Asking,
): Promise<ShownCall> {
  const { args } = call;
  const withoutDiff = (why: string): ShownCall => {
    const rows = showText(`(no diff: ${clip(why, 200)})`, size.columns);
    const shown = showCall(args, { ...size, rows: size.rows - rows.length });
    return { ...shown, summary: [...shown.summary, ...rows] };
  };
  try {
    const { remote } = permissions.flags;
    const changes = await changesOf(call, registry, permissions, signal);
    const diff = changes && (await diffOfChanges(changes, remote ? { cwd: remote.cwd } : { root: permissions.roots }));
    if (diff?.includes("\n@@ ")) return showDiff(diff, size, style);
    return diff === undefined ? showCall(args, size) : withoutDiff("too many changes, or none but of line endings");
  } catch (error) {
    return withoutDiff(messageOf(error));
  }
}
