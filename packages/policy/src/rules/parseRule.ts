import type { ToolEffect } from "@toolcrib/core";
import { isLegalName, nearestName } from "@toolcrib/core/internal";
import { clip, showInvisible } from "@toolcrib/core/text";

export type EffectKind = ToolEffect["kind"];

export const effectKinds: readonly EffectKind[] = ["read", "write", "delete", "execute", "network"];

/** A rule as written, taken apart. */
export type Rule = (
  | { readonly binds: "tool"; readonly tool: string }
  /** Every tool of a mounted server; `prefix` ends in `__`. */
  | { readonly binds: "server"; readonly prefix: string }
  | { readonly binds: "effect"; readonly kind: EffectKind }
) & {
  /** As written. */
  readonly text: string;
  /** The text in parentheses; undefined if there are none. */
  readonly pattern: string | undefined;
};

const longestRule = 8192;
const serverRule = /^mcp__[a-zA-Z0-9_-]+__\*$/;

/** Throws a TypeError that says what is wrong with the rule, and what it should look like. */
export function parseRule(text: unknown, list: string): Rule {
  const fail = (why: string): TypeError => {
    const shown = typeof text === "string" ? JSON.stringify(clip(showInvisible(text), 120)) : typeof text;
    return new TypeError(
      `${list}: ${shown} is not a rule: ${why}. A rule is tool, tool(pattern), mcp__server__*, effect:kind or effect:kind(pattern)`,
    );
  };
  if (typeof text !== "string") throw fail("it must be a string");
  if (text === "") throw fail("it is empty");
  if (text.length > longestRule) throw fail(`it is longer than ${longestRule} characters`);
  if (text.trim() !== text) throw fail("it has spaces around it");
  if (text.includes("\0")) throw fail("it contains a NUL character");
  const { head, pattern } = takeApart(text, fail);
  if (head.startsWith("effect:")) {
    const kind = head.slice("effect:".length);
    const found = effectKinds.find((one) => one === kind);
    if (found === undefined) {
      const near = nearestName(kind, effectKinds);
      throw fail(
        `there is no effect ${JSON.stringify(clip(kind, 40))}${near ? `, did you mean ${near}?` : ""}; effects are ${effectKinds.join(", ")}`,
      );
    }
    return { binds: "effect", kind: found, text, pattern };
  }
  if (head.includes("*")) {
    if (!serverRule.test(head)) throw fail("a name may only end in * as mcp__server__*");
    if (pattern !== undefined) throw fail("mcp__server__* takes no pattern");
    return { binds: "server", prefix: head.slice(0, -1), text, pattern };
  }
  if (!isLegalName(head)) throw fail(`${JSON.stringify(clip(head, 80))} cannot be the name of a tool`);
  return { binds: "tool", tool: head, text, pattern };
}

function takeApart(text: string, fail: (why: string) => TypeError): { head: string; pattern: string | undefined } {
  const open = text.indexOf("(");
  if (open < 0) {
    if (text.includes(")")) throw fail("its parentheses are not balanced");
    return { head: text, pattern: undefined };
  }
  if (!isBalanced(text.slice(open))) throw fail("its parentheses are not balanced, or something follows them");
  const pattern = text.slice(open + 1, -1);
  if (pattern.trim() === "")
    throw fail("the pattern in parentheses is empty; leave the parentheses out to mean every call");
  return { head: text.slice(0, open), pattern };
}

/** Returns whether the parenthesis that `text` starts with is closed by its last character. */
function isBalanced(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}
