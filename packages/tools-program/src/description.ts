import type { AnyToolRegistry, ExecutableTool } from "@toolcrib/core";
import { isObject } from "@toolcrib/core/text";
import { callableTools, type MayCall } from "./callable.ts";
import { declarationOf } from "./declarations.ts";
import type { ProgramSettings } from "./options.ts";

/** Of declarations; tokenizers differ, and this is on the safe side of o200k. */
const charactersPerToken = 3.2;
/** The part of the budget for names of tools that are not declared. */
const shareOfNames = 0.2;
const isName = /^[A-Za-z_]\w*$/;

/** Returns what the model reads of `run_program`: the same text for the same tools. */
export function describeProgram(registry: AnyToolRegistry, settings: ProgramSettings, mayCall: MayCall): string {
  const { maxCalls, maxConcurrent, maxOutputBytes, maxDeclarationTokens } = settings;
  const tools = callableTools(registry, mayCall);
  return [
    `Runs a JavaScript program that calls tools, so that many calls take one step and only what you print or return is read. \`code\` is the body of an async function, with top-level await; TypeScript types are removed.`,
    `\`await tools.NAME({ … })\` calls a tool as you would: it may be refused, and a failed call throws an Error with \`message\` and \`code\`. Calls of read-only tools in one Promise.all run side by side, ${maxConcurrent} at once; others in turn. At most ${maxCalls} calls.`,
    `\`text(value)\` and console print; what is printed and then what is returned is the answer${maxOutputBytes === Number.POSITIVE_INFINITY ? "" : `, cut to ${Math.round(maxOutputBytes / 1024)} KB`}: filter and count in the program. No modules, files, network or timers; Date is UTC and changes only while calls run. \`await searchTools("words")\` lists tools as { name, description }, \`await describeTool("name")\` declares one.`,
    `Example:\n${exampleOf(tools)}`,
    declarations(tools, maxDeclarationTokens),
  ].join("\n\n");
}

/** Shows how calls are made, by the first tool that takes a text alone. */
function exampleOf(tools: readonly ExecutableTool[]): string {
  let [call, argument] = ["tools.NAME({ id })", "id"];
  for (const tool of tools) {
    const { properties, required } = tool.getSchema().function.parameters;
    const [first, ...more] = Array.isArray(required) ? required : [];
    const isText = isObject(properties) && isObject(properties[first]) && properties[first].type === "string";
    if (!isText || more.length > 0 || !isName.test(first) || tool.deferred === true) continue;
    const place = isName.test(tool.name) ? `.${tool.name}` : `[${JSON.stringify(tool.name)}]`;
    [call, argument] = [`tools${place}({ ${first} })`, first];
    break;
  }
  return `const all = ["…", "…"];
const results = await Promise.allSettled(all.map((${argument}) => ${call}));
for (const [at, { value, reason }] of results.entries()) text(reason ? all[at] + ": " + reason.message : value);`;
}

/** Declares tools within a budget of tokens, in the order of their names; of others it gives the names, as many as there is room for. */
function declarations(tools: readonly ExecutableTool[], maxTokens: number): string {
  const most = Math.floor(maxTokens * charactersPerToken);
  const [head, foot] = ["declare const tools: {", "};"];
  const texts = new Map(tools.filter(({ deferred }) => deferred !== true).map((one) => [one.name, declarationOf(one)]));
  const sum = [...texts.values()].reduce((length, text) => length + text.length + 1, head.length + foot.length + 1);
  const deferred = namesOf(
    tools.map(({ name }) => name).filter((name) => !texts.has(name)),
    most * shareOfNames,
  );
  // Room for the names of what is left out is needed only if something is.
  let left = sum + deferred.length > most ? most * (1 - shareOfNames) - head.length - foot.length - 1 : most;
  const declared = [...texts].filter(([, { length }]) => {
    const fits = length + 1 <= left;
    if (fits) left -= length + 1;
    return fits;
  });
  const names = new Set(declared.map(([name]) => name));
  const undeclared = tools.map(({ name }) => name).filter((name) => !names.has(name));
  const list =
    names.size === 0 ? "No tool is declared here." : [head, ...declared.map(([, text]) => text), foot].join("\n");
  return undeclared.length === 0 ? list : `${list}\n${namesOf(undeclared, most * shareOfNames)}`;
}

/** Names tools within so many characters, and counts the rest. */
function namesOf(names: readonly string[], most: number): string {
  if (names.length === 0) return "";
  const head = "Also there, by searchTools and describeTool: ";
  let shown = 0;
  for (let length = head.length + 20; shown < names.length; shown += 1) {
    length += (names[shown]?.length ?? 0) + 2;
    if (length > most) break;
  }
  if (shown === names.length) return `${head}${names.join(", ")}`;
  return shown === 0
    ? `${head}${names.length} tools`
    : `${head}${names.slice(0, shown).join(", ")} and ${names.length - shown} more`;
}
