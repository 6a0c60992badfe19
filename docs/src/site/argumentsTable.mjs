import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";
import { allTools, defaultTools, estimatedTokens } from "./tools.mjs";

/** Describes a tool to programs and models: facts, its description, and its arguments from the schema that models get. */
export async function argumentsTable(name) {
  const tool = await findTool(name);
  const { description, parameters } = tool.getSchema().function;
  const rows = Object.entries(parameters.properties ?? {}).flatMap(([key, schema]) =>
    argumentRows(key, schema, parameters.required?.includes(key)),
  );
  return [
    "| | |",
    "| --- | --- |",
    `| package | \`${tool.origin}\` |`,
    `| in the default registry | ${await stateByDefault(name)} |`,
    `| traits | ${traitsOf(tool)} |`,
    `| tokens of its schema | about ${estimatedTokens(tool)} |`,
    `| what the model reads | ${inCell(description)} |`,
    "",
    "## Arguments",
    "",
    "| argument | type | meaning |",
    "| --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** Every tool with a link to its page, what the page says of it, its package and its state in the default registry. */
export async function toolsTable() {
  const rows = (await allTools()).map(async (tool) => {
    const { name } = tool.getSchema().function;
    const page = readFileSync(join(root, `docs/src/content/docs/tools/${name}.md`), "utf8");
    const [, what] = /^description: (.+)$/m.exec(page) ?? [];
    return `| [\`${name}\`](${name}.md) | ${what} | \`${tool.origin.replace("@toolcrib/", "")}\` | ${(await stateByDefault(name)).split(/[;:]/)[0]} |`;
  });
  return ["| tool | what it does | package | in the default registry |", "| --- | --- | --- | --- |"]
    .concat(await Promise.all(rows))
    .join("\n");
}

/** The estimated tokens of each tool's schema, the most expensive first. */
export async function costsTable() {
  const costs = (await allTools()).map((tool) => ({
    name: tool.getSchema().function.name,
    tokens: estimatedTokens(tool),
  }));
  const rows = costs.sort((a, b) => b.tokens - a.tokens).map(({ name, tokens }) => `| \`${name}\` | about ${tokens} |`);
  return ["| tool | tokens of each request |", "| --- | --- |", ...rows].join("\n");
}

/** The JSON value that a tool gives beside its text, as a type. */
export async function dataType(name) {
  const { outputSchema } = await findTool(name);
  if (outputSchema === undefined) throw new Error(`docs: ${name} has no outputSchema`);
  return `\`\`\`ts\ntype Data = ${typeText(outputSchema)};\n\`\`\``;
}

async function findTool(name) {
  const tool = (await allTools()).find((one) => one.getSchema().function.name === name);
  if (tool === undefined) throw new Error(`docs: there is no tool ${name}`);
  return tool;
}

async function stateByDefault(name) {
  const { registered, enabled } = await defaultTools();
  if (!registered.includes(name)) return "no; register it yourself";
  return enabled.includes(name) ? "yes, enabled" : "yes, disabled: enable it to use it";
}

function traitsOf({ readOnly, destructive, idempotent, openWorld }) {
  const traits = [
    readOnly === true && "changes nothing (`readOnly`)",
    destructive === true && "may overwrite or delete (`destructive`)",
    destructive === false && "deletes nothing (`destructive: false`)",
    idempotent === true && "a second time changes nothing more (`idempotent`)",
    openWorld === true && "reaches beyond the files (`openWorld`)",
  ].filter(Boolean);
  return traits.length > 0 ? traits.join("; ") : "none stated";
}

function argumentRows(key, schema, required) {
  const row = `| \`${key}\`${required ? "" : " (optional)"} | ${typeOf(schema)} | ${inCell(meaningOf(schema))} |`;
  if (schema.items?.properties === undefined) return [row];
  const { properties, required: needed } = schema.items;
  return [
    row,
    ...Object.entries(properties).flatMap(([name, one]) =>
      argumentRows(`${key}[].${name}`, one, needed?.includes(name)),
    ),
  ];
}

function typeOf({ type, enum: values, items }) {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(", ");
  return type === "array" ? `array of ${items.type}s` : type;
}

function meaningOf({ description, minimum, minItems }) {
  return [description, minimum !== undefined && `at least ${minimum}`, minItems !== undefined && `at least ${minItems}`]
    .filter(Boolean)
    .join("; ");
}

function typeText(schema, indent = "") {
  const { type, enum: values, properties, required = [], items, anyOf } = schema;
  if (anyOf !== undefined) return anyOf.map((one) => typeText(one, indent)).join(" | ");
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(type)) return type.map((one) => typeText({ type: one }, indent)).join(" | ");
  if (type === "array") return `${typeText(items, indent)}[]`;
  if (type === "integer") return "number";
  if (properties === undefined) return type;
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([key, one]) => `${inner}${key}${required.includes(key) ? "" : "?"}: ${typeText(one, inner)};`,
  );
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function inCell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("*", "\\*").replaceAll("\n", " ");
}
