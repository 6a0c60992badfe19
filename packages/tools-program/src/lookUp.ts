import type { AnyToolRegistry } from "@toolcrib/core";
import { nearestName, rankTools, shownName } from "@toolcrib/core/internal";
import type { CallAnswer } from "./answerCall.ts";
import { callableTools, type MayCall } from "./callable.ts";
import { declarationOf, firstSentence } from "./declarations.ts";

/** Most tools that one search lists. */
const mostFound = 20;
/** Characters of the words that are searched for. */
const longestWords = 500;

/** Answers what a program asks about the tools that it may call: those that are there now, deferred ones too. */
export function lookUp(registry: AnyToolRegistry, mayCall: MayCall, name: string, asked: unknown): CallAnswer {
  if (typeof asked !== "string") return { message: `${name} takes a text: ${name}("…")`, code: "invalid_arguments" };
  const tools = callableTools(registry, mayCall);
  if (name === "searchTools") {
    const schemas = tools.map((one) => one.getSchema().function);
    const found = rankTools(schemas, asked.slice(0, longestWords)).slice(0, mostFound);
    return {
      value: found.map(({ name: one, description }) => ({ name: one, description: firstSentence(description) })),
    };
  }
  const tool = tools.find((one) => one.name === asked);
  if (tool) return { value: declarationOf(tool, { isWhole: true }) };
  const names = tools.map((one) => one.name);
  const nearest = nearestName(asked, names);
  const notFound = `Tool not found: ${shownName(asked)}${nearest === undefined ? "" : `. Did you mean ${nearest}?`}`;
  return { message: refusalOf(registry, mayCall, asked) ?? notFound, code: "not_found" };
}

/** Returns why programs may not call a tool that is there and enabled. */
export function refusalOf(registry: AnyToolRegistry, mayCall: MayCall, name: string): string | undefined {
  const tool = registry.get(name);
  if (!tool || !registry.isToolEnabled(name) || mayCall(tool)) return undefined;
  return `Tool not available to programs: ${name}. Return what you have, and call it directly`;
}
