import { AgentError, advised } from "../../errors.ts";

/** Loads an optional SDK; `load` is the `import()` of `name`, so that bundlers see it. */
export async function loadSdk<Sdk>(name: string, load: () => Promise<Sdk>): Promise<Sdk> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException | null)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new AgentError({
      code: "missing_sdk",
      message: `This provider needs the package ${name}, which is not installed. Run: npm install ${name}`,
      cause,
    });
  }
}

/** The key, or the error that names the variable to set. */
export function requireKey(label: string, variable: string, key: string | undefined): string {
  if (key) return key;
  const advice = ["Set the environment variable ", { option: "apiKey", variable }, "."] as const;
  throw new AgentError({ code: "missing_key", ...advised(`No API key for ${label}.`, advice) });
}
