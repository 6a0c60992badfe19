import { resolve } from "node:path";
import {
  type JsonSchema,
  renderOutcome,
  type ToolErrorCode,
  type ToolErrorDetails,
  type ToolListing,
  type ToolProgress,
  type ToolRegistry,
} from "@toolcrib/core";
import { clip } from "@toolcrib/core/text";
import { type ExitReason, usageError } from "../exitReasons.ts";
import type { FlagsOf } from "../flags.ts";
import type { Program } from "../program.ts";
import { mcpFlag, permissionFlags, sandboxFlags, toolFlags } from "../sharedFlags.ts";
import { parseJson, readGivenFile } from "../state/givenFile.ts";
import { terminalAsker } from "../terminal/ask.ts";
import { lastLine } from "../terminal/render.ts";
import { whyNotRun } from "../tools/allowAdvice.ts";
import { approveOnTerminal } from "../tools/approval.ts";
import { withServerTools } from "../tools/mcpTools.ts";
import { createPermissions, type Permissions } from "../tools/permissions.ts";
import { withPrograms } from "../tools/programs.ts";
import { connectRemote } from "../tools/remote.ts";
import { chooseSandbox } from "../tools/sandbox.ts";
import { createToolSet, rootsOf, unknownTool } from "../tools/toolSet.ts";
import { type DefineCommand, defineCommand } from "./defineCommand.ts";

const flags = {
  ...toolFlags,
  ...sandboxFlags,
  ...permissionFlags,
  ...mcpFlag,
  json: { usage: "--json", about: "print the outcome as JSON" },
  help: { usage: "-h, --help", about: "show the arguments of the tool" },
} as const;

type ToolsCallFlags = FlagsOf<typeof flags>;

/** `toolcrib tools call NAME …`: one tool, without a model. Prints the tool's output unchanged. */
export const call: DefineCommand = defineCommand({
  flags,
  usage: "[options] NAME ['{\"arg\": …}' | @FILE | --arg value …]",
  arguments: [
    ["[name]", "the tool, as tools list names it"],
    ["[arguments...]", "its arguments: --name value, --name=value, one JSON object, or @FILE that holds one"],
  ],
  takesAnyFlag: true,
  run(program, given, [name, words], command) {
    if (name !== undefined) return toolsCall(program, name, words, given);
    if (!given.help) throw usageError("tools call needs the name of a tool; toolcrib tools list shows them");
    command.outputHelp();
    return "ok";
  },
});

async function toolsCall(
  program: Program,
  name: string,
  words: readonly string[],
  given: ToolsCallFlags,
): Promise<ExitReason> {
  if (name.startsWith("mcp__") && !given.mcp)
    throw usageError(`tools call ${name}: the tools of MCP servers come with --mcp`);
  const flags = await chooseSandbox(await connectRemote(await withPrograms(given), program), program);
  // The user has named the call, so only a rule or a protected path stops it.
  const permissions = createPermissions(flags, rootsOf(flags, program.cwd), program, "full");
  return withServerTools(flags, program, (more) =>
    callTool(program, permissions, createToolSet(flags, permissions, program, { more }), flags, [name, ...words]),
  );
}

async function callTool(
  program: Program,
  permissions: Permissions,
  registry: ToolRegistry,
  flags: ToolsCallFlags,
  [name = "", ...words]: readonly string[],
): Promise<ExitReason> {
  const { terminal, interrupts } = program;
  const tool = registry.listTools().find((one) => one.name === name);
  if (!tool) throw unknownTool(`tools call ${name}`, name, registry);
  if (flags.help) {
    terminal.data(helpOf(tool));
    return "ok";
  }
  const args = await argumentsFrom(words, tool, program.cwd);
  const asker = terminalAsker(program);
  const outcome = await interrupts.during((signal) => {
    const note = (line: string): void => terminal.aside(line);
    const approve = asker && approveOnTerminal({ asker, permissions, registry, style: terminal.style, signal, note });
    const onProgress = (progress: ToolProgress): void => terminal.tail(lastLine(progress));
    return registry.invoke(name, args, { signal, approve, onProgress });
  });
  terminal.tail("");
  if (flags.json) {
    const { ok } = outcome;
    const shown = ok ? outcome : { ok, error: { code: outcome.error.code, message: outcome.error.message } };
    terminal.data(`${JSON.stringify(shown)}\n`);
  }
  if (outcome.ok) {
    if (!flags.json) terminal.data(outcome.output);
    return "ok";
  }
  const { error } = outcome;
  if (error.code === "approval_required") {
    const { question, args: repaired } = error.details as ToolErrorDetails["approval_required"];
    const call = { name, args: repaired ?? (args as Record<string, unknown>), question };
    terminal.note(terminal.style.red(await whyNotRun(call, registry, permissions)));
    return "denied";
  }
  const advice = error.code === "not_available" ? `; it is off unless you pass --enable ${name}` : "";
  terminal.note(terminal.style.red(`${renderOutcome(name, outcome)}${advice}`));
  if (outcome.error.code === "invalid_arguments") terminal.note(usageOf(tool));
  return exitReasons[outcome.error.code] ?? "failed";
}

export async function argumentsFrom(words: readonly string[], tool: ToolListing, cwd: string): Promise<unknown> {
  const [first = "", ...more] = words;
  if (/^[{["]/.test(first.trimStart())) {
    if (more.length > 0)
      throw usageError(
        `after the JSON object, ${JSON.stringify(more[0])} is one word too many; quote the object as a whole`,
      );
    return parseJson(first, "the JSON object of arguments");
  }
  if (words.length === 1 && first.startsWith("@")) return parseJson(await readArguments(first.slice(1), cwd), first);
  return parseToolArguments(words, tool.name, tool.parameters);
}

async function readArguments(path: string, cwd: string): Promise<string> {
  const text = await readGivenFile(resolve(cwd, path), `@${path}`);
  if (text !== undefined) return text;
  throw usageError(`@${path}: there is no such file; name a file that holds the arguments as JSON`);
}

function usageOf({ name, parameters }: ToolListing): string {
  const words = propertiesOf(parameters).map(({ key, required }) => (required ? `--${key} …` : `[--${key} …]`));
  return `Usage: toolcrib tools call ${name} ${words.join(" ")}`;
}

function helpOf(tool: ToolListing): string {
  const rows = propertiesOf(tool.parameters).map(({ key, schema, required }) => {
    const repeated = schema.type === "array" ? `repeat --${key} for more` : undefined;
    const notes = [shapeOf(schema), required ? "required" : undefined, repeated, schema.description].filter(Boolean);
    return `  --${key.padEnd(16)} ${notes.join(", ")}\n`;
  });
  return `${usageOf(tool)}\n\n${tool.description}\n\n${rows.join("")}`;
}

/** Describes a schema: `string`, `one of "a", "b"`, `array of { path: string, limit?: integer }`. */
function shapeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(", ")}`;
  if (schema.type === "array" && schema.items) return `array of ${shapeOf(schema.items as JsonSchema)}`;
  const fields = propertiesOf(schema).map(
    (field) => `${field.key}${field.required ? "" : "?"}: ${shapeOf(field.schema)}`,
  );
  if (fields.length > 0) return `{ ${fields.join(", ")} }`;
  return [schema.type ?? "any"].flat().join(" or ");
}

function propertiesOf(parameters: JsonSchema): { key: string; schema: JsonSchema; required: boolean }[] {
  const { properties = {}, required = [] } = parameters;
  return Object.entries(properties as Record<string, JsonSchema>).map(([key, schema]) => ({
    key,
    schema,
    required: (required as readonly string[]).includes(key),
  }));
}

const exitReasons: Partial<Record<ToolErrorCode, ExitReason>> = {
  invalid_arguments: "usage",
  permission_denied: "denied",
  approval_required: "denied",
  not_available: "denied",
  aborted: "interrupted",
};

/**
 * Reads the arguments of a tool from words of a command line: `--name value`, `--name=value`, `--flag`; an array takes every word
 * up to the next name, or the name again. Values stay text: the registry repairs them by the schema. Throws a usage error.
 */
export function parseToolArguments(
  words: readonly string[],
  tool: string,
  parameters: JsonSchema,
): Record<string, unknown> {
  const properties = (parameters.properties ?? {}) as Record<string, JsonSchema>;
  const args: Record<string, unknown> = {};
  for (let index = 0; index < words.length; ) {
    const word = words[index] ?? "";
    const [, flag = "", inline] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (!flag)
      throw usageError(
        `unexpected ${JSON.stringify(clip(word))}: pass arguments of ${tool} as --name value${namesOf(properties)}, or as one JSON object`,
      );
    index += 1;
    const name = propertyOf(flag, properties);
    const type = properties[name]?.type;
    const values = inline === undefined ? [] : [inline];
    if (inline === undefined) {
      while (index < words.length && !isFlag(words[index]) && (values.length === 0 || type === "array")) {
        if (type === "boolean" && !/^(?:true|false)$/i.test(words[index] ?? "")) break;
        values.push(words[index] ?? "");
        index += 1;
      }
    }
    if (values.length === 0) values.push(valueless(name, type));
    assign(args, name, values, type);
  }
  return args;
}

function isFlag(word: string | undefined): boolean {
  return word?.startsWith("--") ?? false;
}

/** Finds the property of a flag: `--case-sensitive` is `case_sensitive`. */
function propertyOf(flag: string, properties: Record<string, JsonSchema>): string {
  const snake = flag.replaceAll("-", "_");
  return !Object.hasOwn(properties, flag) && Object.hasOwn(properties, snake) ? snake : flag;
}

function valueless(name: string, type: unknown): string {
  if (type === "boolean" || type === undefined) return "true";
  throw usageError(`--${name} needs a value; write --${name}=VALUE where the value begins with --`);
}

function assign(args: Record<string, unknown>, name: string, values: string[], type: unknown): void {
  const before = Object.hasOwn(args, name) ? args[name] : undefined;
  let value: unknown = values.length === 1 ? values[0] : values;
  if (type === "array" && before !== undefined) value = [before, value].flat();
  else if (type === "array" && values.length === 1 && !values[0]?.trimStart().startsWith("[")) value = values;
  else if (before !== undefined) throw usageError(`--${name} is given twice, but it takes one value`);
  // Not plain assignment: `--__proto__` is a name like any other.
  Object.defineProperty(args, name, { value, enumerable: true, configurable: true, writable: true });
}

function namesOf(properties: Record<string, JsonSchema>): string {
  const names = Object.keys(properties);
  return names.length === 0 ? "" : ` (${names.map((name) => `--${name}`).join(", ")})`;
}
