import type { Answer, PendingCall } from "@toolcrib/agent";
import { choicesOf } from "@toolcrib/core/internal";
import type { Asker } from "../terminal/ask.ts";
import { showText } from "../terminal/question.ts";
import { oneLine } from "../terminal/render.ts";

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

/** One line for whoever cannot be asked. */
export function describeModelQuestion({ question }: Pick<PendingCall, "question">): string {
  const choices = choicesOf(question).map((choice) => oneLine(choice, 60));
  const offered = choices.length > 0 ? ` (${choices.join(", ")})` : "";
  return `The model asks: ${oneLine(question.text, 600)}${offered}`;
}
