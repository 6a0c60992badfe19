import { mendSchema, withWords } from "../arguments/mend.ts";
import { invalidTool } from "../errors.ts";
import type { AnyToolRegistry, ChatTool, JsonSchema } from "../interface.ts";
import { cutHead } from "../json.ts";
import { fitSchema } from "./fit.ts";
import { joinBranches } from "./joinBranches.ts";
import { plainSchema } from "./plain.ts";
import { type Wire, wireRules } from "./rules.ts";
import { type StrictMode, strictSchema } from "./strictSchema.ts";

/** A tool as a wire takes it. */
export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly strict: boolean;
}

const strictModes: Readonly<Partial<Record<Wire, StrictMode>>> = {
  responses: "filled",
  messages: "closed",
  chat: "both",
  any: "both",
};

/** The longest description in chat completions; the rest goes into that of the parameters. */
const longestDescription = 1024;

/** Made once for each tool of a registry, whose schema never changes. */
const made = new WeakMap<ChatTool, Map<Wire, Definition>>();

/**
 * Returns a tool as a wire takes it: its service refuses a whole request for one definition that it cannot read. The registry goes on
 * checking by the tool's own schema. Throws a ToolError (`invalid_tool`) for a tool that cannot be put so.
 */
export function definitionFor(tool: ChatTool, wire: Wire): Definition {
  const known = made.get(tool)?.get(wire);
  if (known) return known;
  const problem = definitionProblem(tool, wire);
  if (problem !== undefined) throw invalidTool(tool.function.name, problem);
  const definition = makeDefinition(tool, wire);
  if (Object.isFrozen(tool)) made.set(tool, (made.get(tool) ?? new Map<Wire, Definition>()).set(wire, definition));
  return definition;
}

const services: Readonly<Record<Wire, string>> = {
  responses: "OpenAI",
  chat: "chat completions",
  messages: "Anthropic",
  gemini: "Gemini",
  any: "every service",
};

/**
 * Returns tools as a wire takes them. A stranger's tool that cannot be put so is left out; any other throws a ToolError
 * (`invalid_tool`).
 */
export function definitionsFor(
  tools: readonly ChatTool[],
  wire: Wire,
  registry: Pick<AnyToolRegistry, "get">,
): Definition[] {
  const isTaken = (tool: ChatTool): boolean =>
    definitionProblem(tool, wire) === undefined || registry.get(tool.function.name)?.hints === undefined;
  return tools.filter(isTaken).map((tool) => definitionFor(tool, wire));
}

/** Returns why a wire cannot take a tool in any form; undefined where it can. */
function definitionProblem({ function: { name } }: ChatTool, wire: Wire): string | undefined {
  const { tool } = wireRules[wire];
  if (tool.test(name)) return undefined;
  return `for ${services[wire]} its name must match ${tool.source}; give it another name, or leave it out there`;
}

function makeDefinition({ function: { name, description, parameters, strict } }: ChatTool, wire: Wire): Definition {
  const given = mendSchema(parameters);
  const { schema, words } = joinBranches(plainSchema({ ...given, type: "object" }));
  const fitted = fitSchema(schema, wireRules[wire], given);
  const mode = strict === true ? strictModes[wire] : undefined;
  const strictForm = mode && strictSchema(fitted, mode);
  const said = withWords({ description }, words).description as string;
  const definition = { name, description: said, parameters: strictForm ?? fitted, strict: strictForm !== undefined };
  return wire === "chat" ? shortened(definition) : definition;
}

/** Moves the end of a description that is too long, from a line or a sentence on, into that of the parameters. */
function shortened(definition: Definition): Definition {
  const { description, parameters } = definition;
  if (description.length <= longestDescription) return definition;
  const head = cutHead(description, longestDescription);
  const end = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(". ") + 1);
  const first = end > longestDescription / 2 ? head.slice(0, end) : head;
  const rest = description.slice(first.length).trim();
  const whole = withWords({ ...parameters, description: rest }, String(parameters.description ?? ""));
  return { ...definition, description: first.trimEnd(), parameters: whole };
}

/** The most tools of a request in chat completions. */
export const mostChatTools = 128;

/** Returns why so many tools are not taken in one request; undefined where they are. */
export function tooManyTools(count: number, most: number = mostChatTools): string | undefined {
  if (count <= most) return undefined;
  return `${count} tools are enabled, and chat completions take at most ${most} in a request: disable some, mount fewer, or mark some as deferred`;
}
