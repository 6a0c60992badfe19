/** For a flag that may be given again. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** For a flag that takes names between commas, and may be given again. */
export function collectNames(value: string, before: readonly string[] = []): string[] {
  const names = value.split(",").map((name) => name.trim());
  return [...before, ...names.filter(Boolean)];
}

/** For a rule of permissions that is missing, or is none. */
export const ruleAdvice = "such as 'run_bash(git push *)'; to be asked before each change, use --mode ask";
