import type { Answer, Answers, PendingCall } from "@toolcrib/agent";
import type { AnyToolRegistry, Approve } from "@toolcrib/core";
import { choicesOf, oneLine } from "@toolcrib/core/internal";
import { clip, messageOf } from "@toolcrib/core/text";
import type { Policy, PolicyQuestion } from "@toolcrib/policy";
import { diffOfChanges } from "@toolcrib/tools-fs";
import { type Asker, isYes } from "../terminal/ask.ts";
import { askWithView, type Offer, type Paging } from "../terminal/askWithView.ts";
import { type ScreenSize, type ShownCall, showCall, showDiff, showText } from "../terminal/question.ts";
import type { Style } from "../terminal/style.ts";
import type { Permissions } from "./permissions.ts";
import { answerToRound, offerUpTo, upToText, withoutReason } from "./programQuestions.ts";
import { changesOf } from "./remote.ts";

interface Asking extends Paging {
  readonly permissions: Permissions;
  readonly registry: AnyToolRegistry;
  readonly style: Style;
  /** Prints what the user should know beside the question. */
  note(line: string): void;
  /** True if an answer has changed the mode. */
  hasChangedMode?: boolean;
}

/** Asks the user about each call that waits. Undefined when the user left a question without an answer: then nothing is answered. */
export async function answersTo(pending: readonly PendingCall[], asking: Asking): Promise<Answers | undefined> {
  const answers: Record<string, Answer> = {};
  const asked = pending.filter(({ answer }) => answer === undefined);
  const rounds = new Set<string>();
  const covered = new Set<string>();
  for (const call of asked) {
    const { callId, name, within } = call;
    if (within !== undefined && !rounds.has(within)) {
      rounds.add(within);
      const round = asked.filter((one) => one.within === within && !one.question.needs);
      const together = round.length > 1 ? await answerToRound(round, asking) : "one-by-one";
      if (together === undefined) return undefined;
      if (together !== "one-by-one") {
        Object.assign(answers, together);
        for (const one of round) covered.add(one.callId);
      }
    }
    // Those that an answer for several calls does not cover are asked about again.
    if (covered.has(callId) || covered.has(`${within} ${name}`)) continue;
    const answer = await answerTo(call, asking);
    if (answer === undefined) return undefined;
    answers[callId] = answer;
    if (typeof answer === "object" && "upTo" in answer) covered.add(`${within} ${name}`);
  }
  return answers;
}

/** Answers a guard's question in place, for a call that waits for nothing else. */
export function approveOnTerminal(asking: Asking): Approve {
  return async ({ name, args, callId = "", within }, question) =>
    (await answerTo({ callId, name, args, question, ...(within !== undefined && { within }) }, asking)) ??
    "the user left the question unanswered";
}

async function answerTo(call: PendingCall, asking: Asking): Promise<Answer | undefined> {
  if (call.question.needs) return answerToModel(call, asking);
  const { permissions, registry } = asking;
  const tool = registry.get(call.name);
  const isAllowed = async (policy: Policy): Promise<boolean> =>
    tool !== undefined && (await policy.explain({ name: call.name, args: call.args, tool })).decision === "allow";
  // An answer before may have changed the mode.
  if (asking.hasChangedMode && (await isAllowed(permissions.policy))) return true;
  const question = questionOf(call);
  const always = question.remember && alwaysText(question, permissions.keepsAnswers);
  const upTo = call.within === undefined ? undefined : upToText(call, permissions);
  const isEdit = permissions.mode === "ask" && (question.effects ?? []).some(({ kind }) => kind === "write");
  const offers: Offer<Answer>[] = [{ shown: "[y]es", isMeant: isYes, answer: () => true }];
  if (always)
    offers.push({
      shown: "[a]lways",
      isMeant: (typed) => /^a(lways)?$/i.test(typed),
      async answer() {
        await keep(call, asking);
        return true;
      },
    });
  if (upTo) offers.push(offerUpTo((count) => ({ upTo: count })));
  if (isEdit && (await isAllowed(permissions.policyWith([], "accept-edits"))))
    offers.push({
      shown: "all [e]dits",
      isMeant: (typed) => /^e(dits)?$/i.test(typed),
      answer() {
        permissions.setMode("accept-edits");
        asking.hasChangedMode = true;
        return true;
      },
    });
  return questionAbout(
    call,
    offers,
    [always, upTo].filter((line) => line !== undefined),
    asking,
  );
}

/** Returns what the policy says of its question; empty for a question of another guard. */
export function questionOf({ question }: Pick<PendingCall, "question">): Partial<PolicyQuestion> {
  return (question.data as Partial<PolicyQuestion> | undefined) ?? {};
}

/** Describes what a yes for good holds for, in a few words; all of them are shown on request. */
function alwaysText({ tool = "", effects = [], remember }: Partial<PolicyQuestion>, isKept: boolean): string {
  const [first, ...others] = effects;
  const isBoxed = first?.confinement?.startsWith("sandbox") ? "in the sandbox" : "without a sandbox";
  const what =
    first?.command !== undefined && others.length === 0
      ? `\`${oneLine(first.command, 160)}\`, ${isBoxed}`
      : !first || effects.some(({ kind, path }) => path === undefined || kind === "network")
        ? `exactly this call of ${oneLine(tool, 64)}`
        : oneLine(remember?.text ?? tool, 160);
  return `always${isKept ? "" : ", until toolcrib ends"}: ${what}, ${first?.remote === undefined ? "in this folder" : `on ${oneLine(first.remote, 80)}`}`;
}

/** Says why it is asked, in one short sentence. */
function reasonText(
  { decidedBy, commands = [], effects = [], mode, why }: Partial<PolicyQuestion>,
  text: string,
): string {
  if (decidedBy?.by !== "mode") return `asked: ${why ?? text}`;
  const [first] = commands;
  if (first !== undefined) {
    const name = first.split(/\s+/).find((word) => !/^\w+=/.test(word)) ?? first;
    const more = commands.length - 1;
    return more > 0
      ? `asked: \`${oneLine(name, 40)}\` and ${more} more ${more === 1 ? "command" : "commands"} may change something`
      : `asked: \`${oneLine(name, 40)}\` is not a read-only command`;
  }
  return effects.some(({ kind }) => kind === "write" || kind === "delete")
    ? `asked: the mode ${mode} asks before each change`
    : `asked: ${why ?? text}`;
}

/** Keeps an answer. The call may run even if that fails: it was a yes. */
async function keep({ name, args, question }: PendingCall, { permissions, registry, note }: Asking): Promise<void> {
  const tool = registry.get(name);
  if (!tool) return;
  try {
    await permissions.policy.remember({ name, args, tool }, question);
  } catch (error) {
    note(`The answer covers only this call: ${messageOf(error)}`);
  }
}

async function questionAbout(
  call: PendingCall,
  offers: readonly Offer<Answer>[],
  explained: readonly string[],
  asking: Asking,
): Promise<Answer | undefined> {
  const { columns, rows: free } = asking.asker.size;
  const question = questionOf(call);
  const { text } = call.question;
  const isCommand = (question.effects ?? []).some(({ command }) => command !== undefined);
  const title = isCommand ? `${oneLine(call.name, 64)} would run:` : withoutReason(text);
  const place = call.within === undefined ? [] : ["In the program:"];
  const above = [...place, ...showText(clip(title, 600), columns)];
  const below = [reasonText(question, text), ...explained].flatMap((line) => showText(clip(line, 300), columns, "  "));
  const left = Math.max(8, free - 3 - above.length - below.length);
  const { summary, whole } = await whatHappens(call, { columns, rows: left }, asking);
  const details = [text, ...(question.remember ? [`always means ${question.remember.text}`] : [])];
  const all = [...details.flatMap((line) => showText(line, columns)), ...whole];
  const rows = [...above.map(asking.style.bold), ...summary, ...below];
  return askWithView({ rows, all, offers }, asking);
}

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

/** Puts a question of the model to the user. Undefined when the user left it without an answer; an empty line is a no. */
export async function answerToModel(
  { question }: PendingCall,
  { asker, signal }: { readonly asker: Asker; readonly signal: AbortSignal },
): Promise<Answer | undefined> {
  const { columns } = asker.size;
  const choices = choicesOf(question);
  const lines = question.text.split("\n");
  const rows = [
    ...showText(`The model asks: ${lines[0]}`, columns),
    ...lines.slice(1).flatMap((line) => showText(`  ${line}`, columns)),
    ...choices.flatMap((choice, index) => showText(`  ${index + 1}. ${choice}`, columns)),
  ];
  const ending = choices.length > 0 ? "Number or answer (empty: none):" : "Answer (empty: none):";
  const typed = (await asker.ask([...rows, `${ending} `].join("\n"), signal))?.trim();
  if (typed === undefined) return undefined;
  if (typed === "") return "the user gave no answer";
  const numbered = /^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined;
  return { output: numbered ?? typed };
}

/** Words the question in one line for whoever cannot be asked. */
export function describeModelQuestion({ question }: Pick<PendingCall, "question">): string {
  const choices = choicesOf(question).map((choice) => oneLine(choice, 60));
  const offered = choices.length > 0 ? ` (${choices.join(", ")})` : "";
  return `The model asks: ${oneLine(question.text, 600)}${offered}`;
}
