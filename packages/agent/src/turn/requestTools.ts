import type { ChatTool } from "@toolcrib/core";
import { attempt, schemasForModel } from "@toolcrib/core/internal";
import { frozenJson } from "../conversation/frozenJson.ts";
import type { ModelRequest } from "../provider.ts";
import type { ToolRunner } from "./toolCalls.ts";

/**
 * Returns the tools of a request. Those that are deferred are left out until `search_tools` has found them, and then come last in the order in
 * which they were found, so that the beginning stays the same.
 */
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

const formed = new WeakMap<readonly ChatTool[], readonly ChatTool[]>();

/** Returns the same list, or a copy where a definition has half a character in it: services refuse the whole request for it. */
function wellFormedTools(schemas: readonly ChatTool[]): readonly ChatTool[] {
  const before = formed.get(schemas);
  if (before) return before;
  const isWhole = !/\\ud[89a-f]/i.test(JSON.stringify(schemas));
  const after = isWhole ? schemas : frozenJson(schemas);
  formed.set(schemas, after);
  return after;
}

/** By the list of schemas, which a registry keeps until it changes. */
const known = new WeakMap<readonly ChatTool[], readonly ChatTool[]>();

function deferredOf(schemas: readonly ChatTool[], tools: ToolRunner): readonly ChatTool[] {
  const before = known.get(schemas);
  if (before) return before;
  const deferred = schemas.filter((schema) => isDeferred(tools, schema.function.name));
  known.set(schemas, deferred);
  return deferred;
}

function isDeferred(tools: ToolRunner, name: string): boolean {
  // If its getter throws, the tool does not state it.
  return attempt(() => tools.get(name)?.deferred) === true;
}
