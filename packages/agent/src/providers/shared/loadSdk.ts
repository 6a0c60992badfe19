import { isObject } from "@toolcrib/core/text";
import { AgentError } from "../../errors.ts";

/** Loads the module of an SDK, by the name of its package. */
export type SdkLoader = (name: "openai" | "@anthropic-ai/sdk") => Promise<unknown>;

/** Loads an optional SDK; `load` is the `import()` of `name`, so that bundlers see it, `own` what the user has in its place, whose errors are the user's. */
export async function loadSdk<Sdk>(
  name: Parameters<SdkLoader>[0],
  load: () => Promise<Sdk>,
  own?: SdkLoader,
): Promise<Sdk> {
  if (own !== undefined) return own(name) as Promise<Sdk>;
  try {
    return await load();
  } catch (cause) {
    if (!isObject(cause) || cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new AgentError({
      code: "missing_sdk",
      message: `This provider needs the package ${name}, which is not installed. Run: npm install ${name}`,
      cause,
    });
  }
}
