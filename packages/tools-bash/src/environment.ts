import { isSecret } from "@toolcrib/kit/text";
import { noQuestions } from "./noQuestions.ts";

/** Holds the marks of the calls that a process runs under, the innermost last. */
const markVariable = "TOOLCRIB_CALLS";

/** The choice to remove secrets from the environment of commands; `keep` names variables that stay. */
export type ScrubEnv = boolean | { readonly keep?: readonly string[] | undefined };

/** Returns the environment of a command: the process's variables (without secrets, if asked), ours, the caller's own, the mark. */
export function childEnvironment(
  own: Readonly<Record<string, string>>,
  mark: string,
  scrub: ScrubEnv,
): Record<string, string | undefined> {
  const outer = process.env[markVariable];
  return {
    ...(scrub ? withoutSecrets(inherited(), typeof scrub === "object" ? (scrub.keep ?? []) : []) : inherited()),
    ...noQuestions,
    AI_AGENT: "toolcrib",
    ...own,
    [markVariable]: outer ? `${outer} ${mark}` : mark,
  };
}

/** Returns a copy of `process.env`. Spreading it would be slower: that reads each variable several times. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.getOwnPropertyNames(process.env).map((name) => [name, process.env[name]]));
}

function withoutSecrets(environment: NodeJS.ProcessEnv, keep: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => keep.includes(name) || !isSecret(name, value ?? "")),
  );
}
