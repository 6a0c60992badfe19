import { isObject } from "@toolcrib/core/text";
import { behind, jsonEnd, matchAt, parsed, readPython } from "./literals.ts";

export interface WrittenCall {
  readonly name: string;
  /** An object, or the text of one. */
  readonly args: unknown;
  /** True if every argument is text, whatever the tool takes. */
  readonly isText?: boolean;
}

interface WrittenCalls {
  readonly calls: readonly WrittenCall[];
  readonly end: number;
}

/** A way in which models write calls. */
export interface CallFormat {
  /** The tokens with which a call begins. */
  readonly markers: readonly string[];
  /** Matches the end of one that could not be read. */
  readonly close?: RegExp;
  /** Reads the calls from a marker on; undefined if they are not whole. */
  read(text: string, place: number): WrittenCalls | undefined;
}

const tagName = "(?:minimax:|seed:)?(?:tool_call|tools)>";
const tagOpen = new RegExp(`<${tagName}\\s*`, "y");
const tagClose = new RegExp(`\\s*</${tagName}`, "y");
const tagEnd = new RegExp(`</${tagName}`, "g");
const brokenClose = new RegExp(`\\s*\\}?\\s*</${tagName}`, "y");
const tokenNext = /\s*(?:<|$)/y;
const brokenHead = /\{\s*"name"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*/y;

/** Hermes and Qwen: JSON within a tag. Qwen3-Coder, MiniMax and GLM put their own forms there. */
function readTag(text: string, start: number): WrittenCalls | undefined {
  const place = behind(tagOpen, text, start);
  const isJson = text[place] === "{" || text[place] === "[";
  if (!isJson) {
    const read = readFunction(text, place) ?? readInvokes(text, place);
    return read ? { ...read, end: behind(tagClose, text, read.end) } : readKeys(text, place);
  }
  const read = readObjects(text, place);
  // Some models leave the end of the tag out.
  if (read && matchAt(tokenNext, text, read.end)) return { ...read, end: behind(tagClose, text, read.end) };
  const head = matchAt(brokenHead, text, place);
  const args = head && readArguments(text, place + head[0].length, tagEnd);
  if (!head || !args) return undefined;
  const [, name = ""] = head;
  return {
    calls: [{ name, args: args.text.replace(/\}$/, "") }],
    end: behind(brokenClose, text, args.end),
  };
}

const keyName = /([\w.-]+)\s*/y;
const keyPair = /<arg_key>([^<\n]*)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>\s*(?=<arg_key>|<\/tool_call>)/y;

/** GLM. */
function readKeys(text: string, start: number): WrittenCalls | undefined {
  const [head, name = ""] = matchAt(keyName, text, start) ?? [""];
  const { args, end } = readPairs(keyPair, text, start + head.length);
  const closed = behind(tagClose, text, end);
  return name === "" || closed === end ? undefined : { calls: [{ name, args, isText: true }], end: closed };
}

const functionOpen = /<function=([^>\s]+)>\s*/y;
const functionClose = /<\/function>(?:\s*<\/tool_call>)?/y;
const parameter = /<parameter=([^>\n]+)>\n?([\s\S]*?)\n?<\/parameter>\s*(?=<parameter=|<\/function>)/y;

/** Llama 3.1 (JSON) and Qwen3-Coder (a tag for each argument). */
function readFunction(text: string, start: number): WrittenCalls | undefined {
  const [head, name = ""] = matchAt(functionOpen, text, start) ?? [""];
  const place = start + head.length;
  if (name === "") return undefined;
  if (text[place] === "{") {
    const args = readArguments(text, place, /<\/function>/g);
    return args && { calls: [{ name, args: args.text }], end: behind(/\s*(?:<\/function>)?/y, text, args.end) };
  }
  const { args, end } = readPairs(parameter, text, place);
  const closed = behind(functionClose, text, end);
  return closed === end ? undefined : { calls: [{ name, args, isText: true }], end: closed };
}

function readPairs(pattern: RegExp, text: string, place: number): { args: object; end: number } {
  const pairs: [string, string][] = [];
  let end = place;
  for (let pair = matchAt(pattern, text, end); pair; pair = matchAt(pattern, text, end)) {
    const [whole, key = "", value = ""] = pair;
    pairs.push([key.trim(), value]);
    end += whole.length;
  }
  return { args: Object.fromEntries(pairs), end };
}

const bars = "[|｜‖]{1,2}";
const dsml = `(?:\\s?${bars}\\s?DSML\\s?${bars}\\s?)?`;
const invokesOpen = new RegExp(`(?:<${dsml}(?:tool_calls|function_calls|tool_use)>)?\\s*`, "y");
const invokesClose = new RegExp(`(?:</${dsml}(?:tool_calls|function_calls|tool_use)>)?`, "y");
const invokeOpen = new RegExp(`<${dsml}invoke name="([^"\\n]+)">\\s*`, "y");
const invokeClose = new RegExp(`</${dsml}invoke>\\s*`, "y");
const invokeValue = new RegExp(
  `<${dsml}parameter name="([^"\\n]+)"(?: string="\\w+")?>([\\s\\S]*?)</${dsml}parameter>\\s*(?=<${dsml}parameter |</${dsml}invoke>)`,
  "y",
);

/** MiniMax and the later DeepSeek, also without the tag around all. */
function readInvokes(text: string, start: number): WrittenCalls | undefined {
  const calls: WrittenCall[] = [];
  let end = behind(invokesOpen, text, start);
  for (let head = matchAt(invokeOpen, text, end); head; head = matchAt(invokeOpen, text, end)) {
    const read = readPairs(invokeValue, text, end + head[0].length);
    end = behind(invokeClose, text, read.end);
    if (end === read.end) return undefined;
    calls.push({ name: head[1] ?? "", args: read.args, isText: true });
  }
  return calls.length === 0 ? undefined : { calls, end: behind(invokesClose, text, end) };
}

/** Returns the text of JSON arguments: up to what closes the call if their brackets are not closed. */
function readArguments(text: string, place: number, close: RegExp): { text: string; end: number } | undefined {
  const end = jsonEnd(text, place) ?? matchAt(close, text, place)?.index;
  return end === undefined ? undefined : { text: text.slice(place, end).trimEnd(), end };
}

/** Returns a pattern of a token of DeepSeek or Kimi, which are written with two kinds of bars and lines. */
function barred(name: string): string {
  return `<[|｜]${name.replaceAll("_", "[▁_]")}[|｜]>`;
}

const sectionOpen = new RegExp(`(?:${barred("tool_calls(?:_section)?_begin")})?\\s*`, "y");
const sectionClose = new RegExp(`\\s*(?:${barred("tool_calls(?:_section)?_end")})?`, "y");
const callHead = new RegExp(
  `\\s*${barred("tool_call_begin")}\\s*(?:function${barred("tool_sep")})?([\\w.-]+)(?::\\d+)?\\s*(?:${barred("tool_sep")}|${barred("tool_call_argument_begin")})?\\s*(?:\`\`\`(?:json)?\\s*)?`,
  "y",
);
const callTail = new RegExp(`\\s*(?:\`\`\`)?\\s*(?:${barred("tool_call_end")})?`, "y");
const callClose = new RegExp(barred("tool_call_end"), "g");

/** DeepSeek and Kimi. */
function readSection(text: string, start: number): WrittenCalls | undefined {
  const calls: WrittenCall[] = [];
  let end = behind(sectionOpen, text, start);
  for (let head = matchAt(callHead, text, end); head; head = matchAt(callHead, text, end)) {
    const args = readArguments(text, end + head[0].length, callClose);
    if (!args) return undefined;
    calls.push({ name: head[1] ?? "", args: args.text });
    end = behind(callTail, text, args.end);
  }
  return calls.length === 0 ? undefined : { calls, end: behind(sectionClose, text, end) };
}

const mistralHead = /\[TOOL_CALLS\]\s*(?:([\w.-]+)(?:\[CALL_ID\][\w-]+)?(?:\[ARGS\])?\s*)?/y;

/** Mistral: a list, or a name and its arguments. */
function readMistral(text: string, start: number): WrittenCalls | undefined {
  const [head = "", name] = matchAt(mistralHead, text, start) ?? [];
  if (name === undefined) return readObjects(text, start + head.length);
  const args =
    text[start + head.length] === "{" ? readArguments(text, start + head.length, /(?=\[TOOL_CALLS\])|$/g) : undefined;
  return args && { calls: [{ name, args: args.text }], end: args.end };
}

const listOpen = /<(?:\|(?:python_tag|python_start|tool_call_start|tool_call)\||TOOLCALL)>\s*/y;
const listClose = /\s*(?:<(?:\|(?:python_end|tool_call_end|\/tool_call)\||\/TOOLCALL)>)?/y;

/** A token before objects or calls in Python's form: Llama's for code, and those of LFM, Phi and Nemotron. */
function readList(text: string, start: number): WrittenCalls | undefined {
  const place = behind(listOpen, text, start);
  const read = readObjects(text, place) ?? readPythonic(text, place);
  return read && { ...read, end: behind(listClose, text, read.end) };
}

/** Llama 4 and others: calls in Python's form. */
function readPythonic(text: string, start: number): WrittenCalls | undefined {
  const read = readPython(text, start);
  return (
    read && { calls: read.pairs.map(([name, args]) => ({ name: name.replace(/\.call$/, ""), args })), end: read.end }
  );
}

const between = /\s*[;,]?\s*/y;

/** Llama and others: objects with name and arguments, in a list or one after the other. */
function readObjects(text: string, start: number): WrittenCalls | undefined {
  const calls: WrittenCall[] = [];
  let end = start;
  for (let place = start; ; place = behind(between, text, end)) {
    const close = jsonEnd(text, place);
    const value = close === undefined ? undefined : parsed(text.slice(place, close));
    const read = (Array.isArray(value) ? value : [value]).map(toCall);
    if (close === undefined || read.length === 0 || !read.every((call) => call !== undefined)) break;
    calls.push(...read);
    end = close;
  }
  return calls.length === 0 ? undefined : { calls, end };
}

const callKeys = new Set(["type", "id", "name", "arguments", "parameters"]);

/** Returns the call that a JSON object is, if it is nothing else: a description of a tool has a name and parameters too. */
function toCall(value: unknown): WrittenCall | undefined {
  if (!isObject(value)) return undefined;
  const { function: inner, ...outer } = value;
  const call = isObject(inner) ? { ...outer, ...inner } : outer;
  const args = call.arguments ?? call.parameters;
  const isCall = typeof call.name === "string" && args !== undefined && (call.type ?? "function") === "function";
  return isCall && Object.keys(call).every((key) => callKeys.has(key)) ? { name: String(call.name), args } : undefined;
}

/** The formats that begin with a token of their own. */
export const markedFormats: readonly CallFormat[] = [
  { markers: ["<tool_call>", "<tools>", "<minimax:tool_call>", "<seed:tool_call>"], close: tagEnd, read: readTag },
  { markers: ["<function="], close: /<\/function>/g, read: readFunction },
  { markers: ["[TOOL_CALLS]"], read: readMistral },
  {
    markers: ["<|python_tag|>", "<|python_start|>", "<|tool_call_start|>", "<|tool_call|>", "<TOOLCALL>"],
    close: /<\/TOOLCALL>|<\|(?:python_end|tool_call_end|\/tool_call)\|>/g,
    read: readList,
  },
  {
    markers: [
      "<｜DSML｜",
      "<|DSML|",
      "<‖DSML‖",
      "<｜｜DSML｜｜",
      "<||DSML||",
      "< | DSML | ",
      "<function_calls>",
      '<invoke name="',
    ],
    close: new RegExp(`</${dsml}(?:tool_calls|function_calls|tool_use|invoke)>`, "g"),
    read: readInvokes,
  },
  {
    markers: ["<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|tool_calls_begin|>"],
    close: new RegExp(barred("tool_calls_end"), "g"),
    read: readSection,
  },
  {
    markers: ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
    close: new RegExp(barred("tool_calls(?:_section)?_end"), "g"),
    read: readSection,
  },
];

/** A format without a token: it counts only at the start of a line. `whole` matches its beginning, `part` what may become one. */
export interface BareFormat extends CallFormat {
  readonly whole: RegExp;
  readonly part: RegExp;
}

export const bareFormats: readonly BareFormat[] = [
  {
    markers: [],
    whole: /^(?:\[\s{0,20})?\{\s{0,20}"(?:name|type|function|arguments|parameters|id)"\s{0,20}:/,
    part: /^(?:\[\s{0,20})?(?:\{\s{0,20}(?:"[a-z]{0,10}(?:"\s{0,20})?)?)?$/,
    read: readObjects,
  },
  { markers: [], whole: /^\[\s{0,20}([\w.-]{1,80})\(/, part: /^\[\s{0,20}[\w.-]{0,80}$/, read: readPythonic },
];
