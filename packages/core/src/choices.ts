import type { ApprovalQuestion } from "./errors.ts";
import { isPlainObject } from "./json.ts";

/** Returns the answers that a question with `needs: "output"` offers as `data.choices`; none where the user answers in free words. */
export function choicesOf({ data }: ApprovalQuestion): readonly string[] {
  const choices: unknown = isPlainObject(data) ? data.choices : undefined;
  const isOffer = Array.isArray(choices) && choices.every((one) => typeof one === "string" && one.trim() !== "");
  return isOffer ? [...new Set(choices as string[])] : [];
}
