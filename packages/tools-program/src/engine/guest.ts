/**
 * The first code in each guest. Gives programs `tools`, `text`, `console`, `searchTools` and `describeTool`, and returns the functions that
 * start a program and settle its calls. It is a text because it runs in another engine.
 *
 * `host(kind, …)` is the only way out, takes texts and numbers alone, and never leaves this function. What the guest may change of
 * itself (prototypes, globals) is taken into constants first, so that a program can confuse nothing but its own code.
 */
export const guestPrelude = `(function (host, namesText, maxCalls) {
"use strict";
const { parse, stringify } = JSON;
const { apply } = Reflect;
const Pledge = Promise, Failure = Error, Text = String, MapOf = Map, SetOf = Set;
const { create, freeze, hasOwn, keys } = Object;
const { isArray, from } = Array;
const { then } = Promise.prototype;
const { slice } = String.prototype;
const bound = (method, owner) => method.bind(owner);
const open = new Map();
const put = bound(open.set, open), take = bound(open.get, open), drop = bound(open.delete, open);
const entriesOf = Map.prototype.entries, valuesOf = Set.prototype.values, toText = Symbol.prototype.toString;
let calls = 0, lookups = 0, refused = 0, waiting = 0;
// Characters: of a name, longer than any tool's, and of the arguments of one call, whose bytes the registry's thread counts, and of all that wait. More
// never leaves the memory of the program.
const longestName = 128, longestArguments = 2 ** 21, mostWaiting = 2 ** 24;
// It would be handed the functions of this text by the stack of an error.
Object.defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });

const failureOf = (message, code, at) => {
  const failure = at ?? new Failure(message);
  failure.message = message;
  failure.name = "ToolError";
  failure.code = code;
  return failure;
};
// Returns why arguments cannot be those of a call.
const refusalOf = (text, args) => {
  // In JSON such a value is left out, or null, which stands for no arguments.
  if (text === undefined || (text === "null" && args !== null)) return "expected an object of arguments, got " + shown(args);
  if (text.length > longestArguments) return "they have " + text.length + " characters as JSON, a call of a program at most " + longestArguments / 2 + " bytes";
  if (waiting + text.length > mostWaiting) return "the calls that wait may have " + mostWaiting + " characters of arguments together: await some of them first";
};
const ask = (number, name, args, at) => new Pledge((resolve, reject) => {
  let text, why;
  try {
    text = stringify(args === undefined ? {} : args);
    why = refusalOf(text, args);
  } catch (error) {
    why = "they cannot be written as JSON: " + shown(error);
  }
  if (why !== undefined) {
    const message = "Error executing " + name + ": Invalid arguments: " + why;
    reject(failureOf(message, "invalid_arguments", at));
    if (number > 0) host("refused", number, name, message);
    return;
  }
  waiting += text.length;
  put(number, { resolve, reject, at, size: text.length });
  host("call", number, name, text);
});
const tooMany = (what, at) => new Pledge((_, reject) => reject(failureOf("A program may " + what, "too_many_calls", at)));
const callTool = (name, args, more) => {
  const at = new Failure("");
  if (calls >= maxCalls) {
    refused += 1;
    return tooMany("make " + maxCalls + " calls (maxCalls), and this one has made them: return what you have, and do the rest in another program", at);
  }
  calls += 1;
  return ask(calls, apply(slice, name, [0, longestName]), more ? [args, ...more] : args, at);
};
const lookUp = (name, args) => {
  const at = new Failure("");
  if (lookups >= maxCalls) return tooMany("look up tools " + maxCalls + " times (maxCalls)", at);
  lookups += 1;
  return ask(-lookups, name, args, at);
};

const callerOf = (name) => freeze({ [name]: (args, ...more) => callTool(name, args, more.length > 0 && more) }[name]);
const listed = create(null);
for (const name of parse(namesText)) listed[name] = callerOf(name);
// Asked of an object that is printed, awaited or compared, and no tool's names.
const plainNames = ["then", "toJSON", "constructor", "prototype", "toString", "valueOf", "inspect", "nodeType", "asymmetricMatch", "__proto__"];
const refuse = () => {
  throw new TypeError("tools cannot be changed");
};
const tools = new Proxy(listed, {
  get(target, name) {
    if (typeof name !== "string" || hasOwn(target, name)) return target[name];
    for (let at = 0; at < plainNames.length; at += 1) if (plainNames[at] === name) return undefined;
    return callerOf(name);
  },
  set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse, preventExtensions: refuse,
});

const plain = (_, value) => {
  if (typeof value === "bigint") return Text(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof MapOf) return from(apply(entriesOf, value, []));
  if (value instanceof SetOf) return from(apply(valuesOf, value, []));
  return value instanceof Failure && keys(value).length === 0 ? show(value) : value;
};
const show = (value) => {
  if (typeof value === "string") return value;
  if (typeof value === "symbol") return apply(toText, value, []);
  if (typeof value === "function") return "[function " + Text(value.name) + "]";
  if (value instanceof Failure) return Text(value.name) + ": " + Text(value.message);
  if (typeof value !== "object" || value === null) return Text(value);
  const text = stringify(value, plain);
  return text === undefined ? "undefined" : text;
};
const shown = (value) => {
  try {
    return Text(show(value));
  } catch (error) {
    try {
      return "[a value that cannot be written as JSON: " + Text(error.message) + "]";
    } catch {
      return "[a value that cannot be shown]";
    }
  }
};
const print = (...values) => {
  let line = "";
  for (let at = 0; at < values.length; at += 1) line += (at > 0 ? " " : "") + shown(values[at]);
  host("print", 0, line, "");
};
const console = create(null);
for (const name of ["log", "info", "warn", "error", "debug", "dir", "table", "trace"]) console[name] = print;
const given = {
  tools,
  console,
  text: print,
  searchTools: (words) => lookUp("searchTools", words),
  describeTool: (name) => lookUp("describeTool", name),
};
for (const name of keys(given))
  Object.defineProperty(globalThis, name, { value: given[name], writable: true, configurable: true, enumerable: false });

const textOf = (value) => {
  try {
    return value === undefined || value === null ? "" : Text(value);
  } catch {
    return "";
  }
};
const thrown = (error) => {
  let message = error instanceof Failure ? shown(error) : "The program threw " + shown(error), stack = "";
  try {
    if (error instanceof Failure) {
      // What a tool says needs no name of an error before it.
      if (error.name === "ToolError") message = textOf(error.message);
      stack = textOf(error.stack);
    }
  } catch {}
  host("thrown", refused, message, stack);
};
const start = (main) => {
  apply(then, main(), [
    (value) => {
      let text;
      try {
        text = value === undefined ? "" : show(value);
      } catch (error) {
        thrown(new TypeError("The returned value cannot be written as JSON: " + shown(error)));
        return;
      }
      host("returned", refused, Text(text), "");
    },
    thrown,
  ]);
};
const settle = (number, isOk, text) => {
  const call = take(number);
  if (call === undefined) return;
  drop(number);
  waiting -= call.size;
  const value = parse(text);
  if (isOk) call.resolve(value);
  else call.reject(failureOf(value.message, value.code, call.at));
};
return [start, settle];
})`;
