import { isObject } from "../isObject.ts";
import { type Fields, listOf, Problems } from "./checks.ts";
import { betas, type MessagesRules, messagesRules } from "./rules.ts";

const mostStrictTools = 20;
const mostOptionalParameters = 24;
const mostUnions = 16;
const mostMarks = 4;

/** The problems that the Messages API has with the settings of a request for its model. `named`: the betas that it names. */
export function settingsProblems(body: Fields, named: ReadonlySet<string>): readonly string[] {
  const problems = new Problems();
  const rules = messagesRules(body.model);
  const known: readonly string[] = Object.values(betas);
  for (const name of named)
    problems.expect(known.includes(name), `Unexpected value(s) \`${name}\` for the \`anthropic-beta\` header.`);
  problems.expect(
    Number.isInteger(body.max_tokens) && Number(body.max_tokens) > 0,
    "max_tokens is not a positive whole number",
  );
  problems.expect(Number(body.max_tokens) <= rules.mostOutput, `max_tokens: ${body.max_tokens} > ${rules.mostOutput}`);
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined;
  checkEffort(problems, effort, rules, "output_config.effort");
  if (body.thinking !== undefined) checkThinking(problems, body, rules, named, effort);
  checkToolChoice(problems, body, rules);
  checkSampling(problems, body, rules);
  checkFormat(problems, body);
  checkMarks(problems, body);
  checkStrictTools(problems, body.tools);
  if (body.context_management !== undefined) checkContextManagement(problems, body.context_management, named);
  if (body.compaction !== undefined)
    problems.expect(named.has(betas.compact), "compaction: Extra inputs are not permitted");
  return problems.list;
}

export function checkEffort(problems: Problems, effort: unknown, { efforts }: MessagesRules, at: string): void {
  if (effort === undefined || effort === null) return;
  if (efforts.length === 0) problems.add("This model does not support the effort parameter.");
  else problems.expect(efforts.includes(String(effort)), `${at} is ${String(effort)}, expected one of ${efforts}`);
}

function checkThinking(
  problems: Problems,
  body: Fields,
  rules: MessagesRules,
  named: ReadonlySet<string>,
  effort: unknown,
): void {
  const { thinking, max_tokens } = body;
  if (!problems.object(thinking, "thinking", ["type"], ["display", "budget_tokens", "block_binding"])) return;
  const type = String(thinking.type);
  if (!rules.thinking.includes(type)) {
    const other = rules.thinking.includes("between_tools") && type === "disabled" ? "between_tools" : "adaptive";
    const advice = ` To turn thinking off on this model, send "thinking": {"type": "${other}"} instead of "disabled".`;
    if (type === "adaptive") problems.add("adaptive thinking is not supported on this model");
    else problems.add(`"thinking.type.${type}" is not supported for this model.${type === "disabled" ? advice : ""}`);
  }
  const isOff = type === "disabled" || type === "between_tools";
  problems.expect(
    !(isOff && (effort === "xhigh" || effort === "max")),
    `thinking.type "${type}" is not supported at effort ${String(effort)}`,
  );
  if (type === "enabled")
    problems.expect(
      Number(thinking.budget_tokens) >= 1024 && Number(thinking.budget_tokens) < Number(max_tokens),
      "thinking.enabled.budget_tokens: 1,024 or more, and below max_tokens",
    );
  else problems.expect(thinking.budget_tokens === undefined, "budget_tokens: Extra inputs are not permitted");
  if (thinking.display !== undefined) {
    const isKnown = ["summarized", "omitted", "updates"].includes(String(thinking.display));
    problems.expect(isKnown && !isOff, `thinking.display: ${String(thinking.display)} with ${type}`);
    problems.expect(
      thinking.display !== "updates" || named.has(betas.updates),
      "thinking.display: updates needs its beta",
    );
  }
  if (thinking.block_binding === undefined) return;
  problems.expect(named.has(betas.binding) && !isOff, "block_binding: Extra inputs are not permitted");
  if (!problems.object(thinking.block_binding, "block_binding", [], ["prefix_mismatch_behavior"])) return;
  const { prefix_mismatch_behavior: behavior = "error" } = thinking.block_binding;
  problems.expect(behavior === "error" || behavior === "drop_block", `prefix_mismatch_behavior: ${String(behavior)}`);
}

function checkToolChoice(
  problems: Problems,
  { tool_choice: choice, thinking, tools }: Fields,
  rules: MessagesRules,
): void {
  if (choice === undefined) return;
  if (!problems.object(choice, "tool_choice", ["type"], ["name", "disable_parallel_tool_use"])) return;
  problems.expect(Array.isArray(tools) && tools.length > 0, "tool_choice may only be specified while providing tools");
  if (choice.type !== "any" && choice.type !== "tool") return;
  problems.expect(rules.forcesTools, 'tool_choice: type "tool" and "any" are not supported for this model.');
  const isThinking = isObject(thinking) && thinking.type === "enabled";
  problems.expect(!isThinking, "Thinking may not be enabled when tool_choice forces tool use.");
}

function checkSampling(problems: Problems, body: Fields, rules: MessagesRules): void {
  if (rules.takesSampling) return;
  const isDefault = body.temperature === undefined || body.temperature === 1;
  problems.expect(
    isDefault && body.top_p === undefined && body.top_k === undefined,
    "temperature, top_p and top_k are not supported for this model",
  );
}

function checkFormat(problems: Problems, { output_config: config }: Fields): void {
  if (config === undefined || !problems.object(config, "output_config", [], ["effort", "format"])) return;
  if (config.format === undefined) return;
  if (!problems.object(config.format, "output_config.format", ["type", "schema"], [])) return;
  problems.expect(config.format.type === "json_schema", "output_config.format is no json_schema");
  checkClosed(problems, config.format.schema, "output_config.format.schema");
}

/** Every object of the schema of an answer must say that it has no other properties. */
export function checkClosed(problems: Problems, schema: unknown, at: string): void {
  JSON.stringify(schema, (_key, value: unknown) => {
    const isObjectSchema =
      isObject(value) && (value.type === "object" || isObject(value.properties)) && !("const" in value);
    if (isObjectSchema && !Array.isArray(value.enum))
      problems.expect(
        value.additionalProperties === false,
        `${at}: additionalProperties must be false in every object`,
      );
    return value;
  });
}

function checkMarks(problems: Problems, { tools, system, messages, cache_control: top }: Fields): void {
  const marks: Fields[] = [];
  JSON.stringify([tools, system, messages], (key, value: unknown) => {
    if (key === "cache_control" && isObject(value)) marks.push(value);
    if (isObject(value) && value.defer_loading === true)
      problems.expect(value.cache_control === undefined, `the deferred tool ${String(value.name)} has a cache mark`);
    // A tool's own arguments are no place for marks.
    return key === "input" || key === "input_schema" ? undefined : value;
  });
  if (isObject(top)) marks.push(top);
  problems.expect(
    marks.length <= mostMarks,
    `A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${marks.length}.`,
  );
  for (const mark of marks) {
    if (!problems.object(mark, "cache_control", ["type"], ["ttl"])) continue;
    problems.expect(mark.ttl === undefined || mark.ttl === "5m" || mark.ttl === "1h", `ttl ${String(mark.ttl)}`);
  }
  const short = marks.findIndex(({ ttl }) => ttl !== "1h");
  problems.expect(
    short < 0 || marks.slice(short).every(({ ttl }) => ttl !== "1h"),
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
  );
}

function checkStrictTools(problems: Problems, tools: unknown): void {
  const strict = (Array.isArray(tools) ? tools : []).filter((tool) => isObject(tool) && tool.strict === true);
  problems.expect(strict.length <= mostStrictTools, `${strict.length} strict tools, at most ${mostStrictTools}`);
  let [optional, unions] = [0, 0];
  JSON.stringify(strict, (_key, value: unknown) => {
    if (!isObject(value)) return value;
    if (value.type === "object" && isObject(value.properties)) {
      const required: unknown = value.required;
      optional += Object.keys(value.properties).length - (Array.isArray(required) ? required.length : 0);
    }
    if (Array.isArray(value.anyOf) || Array.isArray(value.oneOf) || Array.isArray(value.type)) unions += 1;
    return value;
  });
  problems.expect(optional <= mostOptionalParameters, `${optional} optional parameters in strict tools`);
  problems.expect(unions <= mostUnions, `${unions} unions in strict tools, at most ${mostUnions}`);
  for (const [index, tool] of strict.entries())
    checkClosed(problems, isObject(tool) ? tool.input_schema : undefined, `strict tool ${index}`);
}

function checkContextManagement(problems: Problems, value: unknown, named: ReadonlySet<string>): void {
  if (!problems.object(value, "context_management", ["edits"], [])) return;
  const needed: Readonly<Record<string, string>> = {
    compact_20260112: betas.compactByThreshold,
    clear_tool_uses_20250919: betas.contextManagement,
  };
  for (const edit of listOf(problems, value.edits, "context_management.edits")) {
    const beta = isObject(edit) ? needed[String(edit.type)] : undefined;
    problems.expect(beta !== undefined && named.has(beta), "context_management: Extra inputs are not permitted");
  }
}
