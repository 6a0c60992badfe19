import type { AnyToolRegistry } from "@toolcrib/core";
import { nearestName, rankTools, shownName } from "@toolcrib/core/internal";
import type { CallAnswer } from "./answerCall.ts";
import { callableTools, type MayCall } from "./callable.ts";
import { declarationOf } from "./declarations.ts";
import { listed } from "./description.ts";

/** Most tools that one search lists. */
const mostFound = 20;
/** Characters of the words that are searched for. */
const longestWords = 500;

/** Answers what a program asks about the tools that it may call: those that are there now, deferred ones too. */
export function lookUp(registry: AnyToolRegistry, mayCall: MayCall, name: string, asked: unknown): CallAnswer {
  if (typeof asked !== "string") return { message: `${name} takes a text: ${name}("…")`, code: "invalid_arguments" };
  const tools = callableTools(registry, mayCall);
  if (name === "searchTools") {
    const listings = tools.map((tool) => tool.getSchema().function);
    const found = new Set(rankTools(listings, asked.slice(0, longestWords)).map((listing) => listing.name));
    const inOrder = [...found].flatMap((one) => tools.find((tool) => tool.name === one) ?? []);
    return { value: inOrder.slice(0, mostFound).map(listed) };
  }
  const tool = tools.find((one) => one.name === asked);
  if (tool) return { value: declarationOf(tool, { isWhole: true }) };
  return {
    message:
      refusalOf(registry, mayCall, asked) ??
      notFound(
        asked,
        tools.map((one) => one.name),
      ),
    code: "not_found",
  };
}

function notFound(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return `Tool not found: ${shownName(name)}${nearest === undefined ? "" : `. Did you mean ${nearest}?`}`;
}

/** Returns why programs may not call a tool that is there and enabled. */
export function refusalOf(registry: AnyToolRegistry, mayCall: MayCall, name: string): string | undefined {
  const tool = registry.get(name);
  if (!tool || !registry.isToolEnabled(name) || mayCall(tool)) return undefined;
  return `Tool not available to programs: ${name}. Return what you have, and call it directly`;
}
