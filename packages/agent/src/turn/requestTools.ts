import type { ChatTool } from "@toolcrib/core";
import { attempt, schemasForModel } from "@toolcrib/core/internal";
import { frozenJson } from "../conversation/frozenJson.ts";
import { memoize } from "../memoize.ts";
import type { ModelRequest } from "../provider.ts";
import type { ToolRunner } from "./toolCalls.ts";

/** Returns the tools of a request. Deferred ones that were found come last, in that order, so that the beginning stays the same. */
export function requestTools(
  tools: ToolRunner,
  found: ReadonlySet<string>,
): Pick<ModelRequest, "tools" | "deferredTools"> {
  const schemas = schemasForModel(wellFormedTools(tools.getEnabledSchemas()), tools);
  const deferredTools = deferredOf(schemas, tools);
  if (deferredTools.length === 0) return { tools: schemas };
  const byName = new Map(deferredTools.map((schema) => [schema.function.name, schema]));
  const first = schemas.filter((schema) => !byName.has(schema.function.name));
  const last = [...found].flatMap((name) => byName.get(name) ?? []);
  return { tools: [...first, ...last], deferredTools };
}

/** Returns the same list, or a copy where a definition has half a character in it: services refuse the whole request for it. */
const wellFormedTools = memoize((schemas: readonly ChatTool[]) =>
  /\\ud[89a-f]/i.test(JSON.stringify(schemas)) ? frozenJson(schemas) : schemas,
);

const deferredOf = memoize((schemas: readonly ChatTool[], tools: ToolRunner) =>
  // If its getter throws, the tool does not state it.
  schemas.filter((schema) => attempt(() => tools.get(schema.function.name)?.deferred) === true),
);
