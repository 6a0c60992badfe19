import { isObject } from "@toolcrib/core/text";
import { AgentError } from "../../errors.ts";

/** Loads an optional SDK; `load` is the `import()` of `name`, so that bundlers see it. */
export async function loadSdk<Sdk>(name: string, load: () => Promise<Sdk>): Promise<Sdk> {
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
