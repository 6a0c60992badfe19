import { isSecret } from "./secrets.ts";

/** Where a command's own marks are: one for each call that it runs under, the innermost last. */
const markVariable = "TOOLCRIB_CALLS";

/** Removes secrets from what a command inherits; `keep` names variables that stay. */
export type ScrubEnv = boolean | { readonly keep?: readonly string[] | undefined };

/** What a command gets: the process's variables, less its secrets if asked, then `AI_AGENT`, the caller's own and the mark. */
export function childEnvironment(
  own: Readonly<Record<string, string>>,
  mark: string,
  scrub: ScrubEnv,
): Record<string, string | undefined> {
  const outer = process.env[markVariable];
  return {
    ...(scrub ? withoutSecrets(inherited(), typeof scrub === "object" ? (scrub.keep ?? []) : []) : inherited()),
    AI_AGENT: "toolcrib",
    ...own,
    [markVariable]: outer ? `${outer} ${mark}` : mark,
  };
}

/** A copy of `process.env`, faster than by spreading it: that asks the system several times for each variable. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.getOwnPropertyNames(process.env).map((name) => [name, process.env[name]]));
}

function withoutSecrets(environment: NodeJS.ProcessEnv, keep: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => keep.includes(name) || !isSecret(name, value ?? "")),
  );
}
