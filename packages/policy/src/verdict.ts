import type { ToolEffect } from "@toolcrib/core";

/** A policy's decision if no rule matches. */
export type Mode = "ask" | "read-only" | "accept-edits" | "full";

export const modes: readonly Mode[] = ["ask", "read-only", "accept-edits", "full"];

export type Decision = "allow" | "ask" | "deny";

/** The cause of a decision. */
export type Cause =
  | { readonly by: "rule"; readonly list: Decision; readonly rule: string }
  | { readonly by: "mode"; readonly mode: Mode }
  /** A protected path; `pattern` is its entry in the list. */
  | { readonly by: "protected"; readonly pattern: string }
  /** The tool could not say what the call would do. */
  | { readonly by: "effects" }
  /** A shell line that cannot be read whole. */
  | { readonly by: "unreadable" }
  | { readonly by: "remembered"; readonly id: string };

/** The judgement of one part of a call: an effect, a file that a shell line names, a command in it. */
export interface Verdict {
  readonly decision: Decision;
  readonly cause: Cause;
  /** The action, after "would": `write src/a.ts`. */
  readonly what: string;
  /** The reason, as a clause: `the rule write_file(src/) allows it`. */
  readonly why: string;
  readonly effect?: ToolEffect | undefined;
  /** The simple command of a shell line that it is about. */
  readonly command?: string | undefined;
}

/** The subject of a verdict. */
export type Subject = Pick<Verdict, "what" | "effect" | "command">;

const verbs: Readonly<Record<Decision, string>> = { allow: "allows it", ask: "asks before it", deny: "denies it" };

export function byRule(list: Decision, rule: string, subject: Subject): Verdict {
  return { decision: list, cause: { by: "rule", list, rule }, why: `the rule ${rule} ${verbs[list]}`, ...subject };
}

export function byMode(decision: Decision, mode: Mode, why: string, subject: Subject): Verdict {
  return { decision, cause: { by: "mode", mode }, why, ...subject };
}

/** Judges what cannot be told: a mode asks, or denies if it asks nothing. */
export function notTold(by: "effects" | "unreadable", mode: Mode, why: string, subject: Subject): Verdict {
  return { decision: askOrDeny(mode), cause: { by }, why, ...subject };
}

/** Decides what nothing allows: a mode asks, or denies if it asks nothing. */
export function askOrDeny(mode: Mode): "ask" | "deny" {
  return mode === "read-only" ? "deny" : "ask";
}

const rank: Readonly<Record<Decision, number>> = { allow: 0, ask: 2, deny: 3 };

/** Returns the first of the strictest verdicts, which decides the call. Where all allow it, one of a rule counts for more. */
export function strictest(verdicts: readonly [Verdict, ...Verdict[]]): Verdict {
  const weight = ({ decision, cause }: Verdict): number =>
    decision === "allow" && cause.by === "rule" ? 1 : rank[decision];
  return verdicts.reduce((worst, one) => (weight(one) > weight(worst) ? one : worst));
}
