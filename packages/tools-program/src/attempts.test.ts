// Attempts of a program to reach what is around it: the thread, Node, the registry, calls that a guard denies, other programs.
import { ToolError, type ToolRegistry, toolOutput } from "@toolcrib/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registryOf, toolOf } from "../testing/registries.ts";

let secrets = 0;
let registry: ToolRegistry;
beforeEach(() => {
  secrets = 0;
  const odd = Object.assign(new Error("odd"), { cause: { process }, require: () => process, toJSON: () => process });
  registry = registryOf([
    toolOf("echo", (args) => JSON.stringify(args)),
    toolOf(
      "data",
      () => toolOutput("1", { data: JSON.parse('{"a":[{"b":1}],"__proto__":{"c":1},"constructor":1,"then":"x"}') }),
      {
        outputSchema: { type: "object" },
      },
    ),
    toolOf("fail", () => Promise.reject(odd)),
    toolOf("refuse", () =>
      Promise.reject(new ToolError({ code: "execution_failed", message: "no", details: { cause: process } })),
    ),
    toolOf("secret", () => {
      secrets += 1;
      return "opened";
    }),
  ]);
  registry.guard(({ name }) => name !== "secret" || "never");
});
afterEach(() => {
  expect(secrets).toBe(0);
  expect(Reflect.get(globalThis, "reached")).toBeUndefined();
  expect(Reflect.get(Object.prototype, "reached")).toBeUndefined();
});

/** Signs that something of the host was reached: its globals, its files, its frames, or the tool that is denied. */
const ofTheHost =
  /(?:object|function)(?:undefined|function|object)+$|\breached:|node:|file:\/\/|worker_threads|parentPort|programWorker|\/packages\/|\/node_modules\/|\bopened\b|wasm-function/;

/** Looks for globals of the host from a function that makes functions. */
const look = `const look = (make) => {
  const seen = [];
  for (const name of ["process", "require", "Buffer", "WebAssembly", "setTimeout", "performance", "parentPort", "workerData", "fetch", "host"]) {
    let type;
    try { type = make("return typeof " + name)(); } catch (error) { type = "undefined"; }
    if (typeof type === "string" && type !== "undefined") seen.push("reached: " + name);
  }
  return seen.join() || "nothing";
};`;

/** Values that a program is given, or gets by calls. */
const values: readonly [string, string][] = [
  ["tools", "tools"],
  ["a function of tools", "tools.echo"],
  ["an unknown function of tools", "tools.nothing"],
  ["text", "text"],
  ["console", "console"],
  ["console.log", "console.log"],
  ["searchTools", "searchTools"],
  ["a promise of a call", "tools.echo()"],
  ["a result", "await tools.data()"],
  ["a thing within a result", "(await tools.data()).a[0]"],
  ["a list of tools", "await searchTools('echo')"],
  ["the error of a call", "await tools.fail().catch((error) => error)"],
  ["the error of a refused call", "await tools.secret().catch((error) => error)"],
  ["the error of a tool's own", "await tools.refuse().catch((error) => error)"],
  ["the error of the engine", "(() => { try { null.x } catch (error) { return error } })()"],
  ["the global object", "globalThis"],
];

/** Ways from a value to something else; `it` is the value. */
const ways: readonly [string, string][] = [
  ["its constructor's constructor", "look(it.constructor.constructor)"],
  ["its prototype's constructor", "look(Object.getPrototypeOf(it).constructor.constructor)"],
  [
    "the constructor of all it holds",
    "Reflect.ownKeys(it).map((key) => { try { return look(it[key].constructor.constructor) } catch { return '' } }).join(' ')",
  ],
  [
    "the whole chain of prototypes",
    "(() => { const seen = []; for (let at = it; at; at = Object.getPrototypeOf(at)) for (const key of Reflect.ownKeys(at)) { try { const one = at[key]; if (typeof one === 'function') seen.push(look(one.constructor)) } catch {} } return [...new Set(seen)].join(' ') })()",
  ],
  [
    "its caller and arguments",
    "[(() => { try { return typeof it.caller } catch (error) { return error.message } })(), (() => { try { return typeof it.arguments } catch (error) { return error.message } })()].join()",
  ],
  [
    "its cause, and fields that errors of Node have",
    "[it.cause, it.details, it.require, it.syscall, it.errno, it.path].map((one) => typeof one).join()",
  ],
  [
    "its text",
    "String(it?.stack ?? '') + Object.prototype.toString.call(it) + (typeof it === 'function' ? Function.prototype.toString.call(it) : '')",
  ],
];

const fromValues = values.flatMap(([what, value]) =>
  ways.map(([way, code]): [string, string] => [`${what}: ${way}`, `${look} const it = ${value}; return ${code}`]),
);

const tricks: readonly string[] = [
  // Functions that make functions, and code within code.
  "return look(Function)",
  "return await (async () => {}).constructor('return typeof process + typeof require + typeof host')()",
  "return (function* () {}).constructor('yield typeof process + typeof require + typeof host')().next().value",
  "return (await (async function* () {}).constructor('yield typeof process + typeof require')().next()).value",
  "return look((code) => () => eval(code.slice(7)))",
  "return look((code) => () => (0, eval)(code.slice(7)))",
  "return look((code) => new Function('a = ' + code.slice(7), 'return a'))",
  "return look((code) => Reflect.construct(Function, [code], class extends Function {}))",
  "return typeof import.meta",
  "return await import('node:process').then(() => 'reached: module', () => 'no module')",
  "return await import('quickjs-wasi').then(() => 'reached: module', (error) => error.message)",
  "return await import('/etc/passwd').then(() => 'reached: module', (error) => error.message)",
  "return await import('file:///etc/passwd', { with: { type: 'json' } }).then(() => 'reached: module', (error) => 'no')",
  "return await eval('import(\"os\")').then(() => 'reached: module', (error) => error.message)",
  "}\nglobalThis.outside = typeof host;\nasync function more() {",
  "})(); globalThis.outside = typeof host; (async () => {",
  "return typeof outside",
  // What the code before a program may have left.
  "return [typeof host, typeof parse, typeof stringify, typeof open, typeof request, typeof guestPrelude, typeof callTool].join()",
  "return Object.getOwnPropertyNames(globalThis).filter((name) => /host|tool|call|native|qjs/i.test(name)).join()",
  "return Object.getOwnPropertySymbols(globalThis).map(String).join()",
  "return arguments.callee.caller?.toString() ?? 'none'",
  "return (function f() { return f.caller })()?.toString() ?? 'none'",
  "const all = []; (function f() { try { for (let at = f; at; at = at.caller) all.push(at.name) } catch {} })(); return all.join()",
  "return (function () { return typeof this.host })()",
  "return (() => { try { return typeof arguments[0] } catch (error) { return error.message } })()",
  // Changed ground, on which the calls go on.
  "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = function () { return 'reached: ' + this.name }; return await tools.echo({ a: 1 })",
  "const seen = []; for (const name of ['call', 'apply', 'bind']) { const own = Function.prototype[name]; Function.prototype[name] = function (...args) { seen.push(this.name); return Reflect.apply(own, this, args) } } await tools.echo(); text('x'); return seen.includes('host') ? 'reached: host' : 'nothing'",
  "JSON.stringify = JSON.parse = () => 'reached: JSON'; return await tools.echo({ a: 1 })",
  "JSON.stringify = () => '{\"code\":1}'; await tools.secret().catch((error) => text(error.message))",
  "Object.prototype.toJSON = () => ({ name: 'secret' }); return await tools.echo({ a: 1 }).catch((error) => error.message)",
  "String.prototype.toJSON = () => 'secret'; return await tools.echo({ a: 'a' })",
  "Promise.prototype.then = function (take) { take('mine') }; return (async () => 1)()",
  "globalThis.Promise = class { constructor(work) { work((x) => x, (x) => x) } }; return await tools.echo()",
  "Promise.resolve = Promise.reject = () => 'x'; return await tools.echo()",
  "Promise.prototype.constructor = class { constructor(work) { work(() => {}, () => {}) } }; return await tools.echo()",
  "Object.defineProperty(Promise, Symbol.species, { value: class {} }); return await tools.echo()",
  "Array.prototype.push = Array.prototype.map = () => { throw 'reached: push' }; text(1); return await tools.echo()",
  "Array.prototype[Symbol.iterator] = function* () { yield 'reached: iterator' }; console.log(1, 2); return await tools.echo()",
  "Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw 'reached: map' }; return await tools.echo()",
  "Map.prototype.get = function (n) { return { resolve: (x) => text('reached: ' + x) } }; return await tools.echo()",
  "Set.prototype.has = () => true; return await tools.secret().catch((error) => error.message)",
  "Object.defineProperty(Object.prototype, 'number', { set(n) { text('reached: ' + n) } }); return await tools.echo()",
  "Object.defineProperty(Object.prototype, 'resolve', { get() { return (x) => text('got ' + x) }, set() {} }); return await tools.echo()",
  "Object.defineProperty(Object.prototype, 'code', { get() { return 'forged' }, set() {} }); return await tools.secret().catch((error) => error.message)",
  "Object.defineProperty(Object.prototype, 'message', { get() { return 'forged' } }); return await tools.secret().catch((error) => String(error.code))",
  "Object.defineProperty(Error.prototype, 'message', { set() { throw 1 } }); return await tools.secret().catch((error) => error.code)",
  "Object.defineProperty(Error.prototype, 'name', { set() { throw 1 } }); return await tools.secret().catch((error) => error.code)",
  "Object.freeze(Error.prototype); Object.freeze(Object.prototype); return await tools.secret().catch((error) => error.code)",
  "globalThis.Error = class { constructor() { return new Proxy({}, {}) } }; return await tools.secret().catch((error) => error.code)",
  "Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFunction?.(), site.getThis?.(), site.getFileName?.()].map((one) => typeof one === 'function' ? 'reached: function' : String(one)).join()).join(); return String((await tools.fail().catch((error) => error)).stack)",
  "let kept; Error.prepareStackTrace = (error, sites) => { kept = sites; return '' }; await tools.fail().catch((error) => error.stack); return Object.getOwnPropertyNames(Object.getPrototypeOf(kept?.[0] ?? {})).join()",
  "Error.captureStackTrace?.(globalThis); return String(globalThis.stack)",
  "Error.stackTraceLimit = 1e9; function deep(n) { return n ? deep(n - 1) : new Error('x').stack } return deep(100).length > 0 ? deep(3) : ''",
  "Symbol.prototype.toString = String.prototype.toString = () => 'reached: text'; console.log(Symbol('a'), 'b')",
  "Object.defineProperty(Map, Symbol.hasInstance, { value: () => true }); return { a: 1 }",
  "Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw 'reached: instance' } }); throw 1",
  "Object.keys = Object.hasOwn = () => ['reached: keys']; console.log(new Error('x')); return tools.echo()",
  "Reflect.apply = () => 'reached: apply'; return new Map([[1, 2]])",
  "delete globalThis.Promise; delete globalThis.JSON; delete globalThis.Object; return await tools.echo()",
  "for (const name of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[name] } catch {} return 1",
  "for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = undefined } catch {} return await tools?.echo()",
  "Object.setPrototypeOf(globalThis, new Proxy({}, { get: (_, name) => { throw String(name) } })); return await tools.echo()",
  // tools.
  "return typeof Object.getPrototypeOf(tools)",
  "Object.setPrototypeOf(tools, { secret: () => 'x' }); return 1",
  "Object.defineProperty(tools, 'echo', { value: () => 'x' }); return 1",
  "Object.freeze(tools); return 1",
  "return Reflect.ownKeys(tools).join() + ('echo' in tools) + ('none' in tools) + JSON.stringify(Object.getOwnPropertyDescriptor(tools, 'none') ?? null)",
  "return [tools.then, tools.toJSON, tools.constructor, tools.__proto__, tools[Symbol.iterator], tools[Symbol.toPrimitive]].map((one) => typeof one).join()",
  "return await tools['__proto__']?.() ?? 'none'",
  "return await tools['../secret']().catch((error) => error.message)",
  "return await tools['secret\\u0000']().catch((error) => error.message)",
  "return await tools[''] ().catch((error) => error.message)",
  "return await tools['x'.repeat(1e5)]().catch((error) => String(error.message.length < 2000))",
  "return await tools['\\ud800']().catch((error) => error.message)",
  "return await new Proxy(tools, { get: (target) => target.secret }).echo().catch((error) => error.message)",
  "return await Reflect.apply(tools.echo, { name: 'secret' }, [{ name: 'secret' }])",
  "return await new tools.echo().catch((error) => error.message)",
  "tools.echo.name2 = 1; return 1",
  "Object.defineProperty(tools.echo, 'name', { value: 'secret' }); return await tools.echo()",
  "const it = tools.echo; it.constructor = null; return 1",
  "return await tools.echo({ get a() { return tools.secret } })",
  "return await tools.echo(new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => 'got' }))",
  "return await tools.echo({ toJSON: () => ({ a: 'json' }) })",
  'return await tools.echo(JSON.parse(\'{"__proto__":{"reached":1},"constructor":{"prototype":{"reached":1}}}\'))',
  "return await tools.echo({ a: [[[[new Date(0)]]]] })",
  "let deep = {}; for (let n = 0; n < 5000; n += 1) deep = { deep }; return await tools.echo(deep).catch((error) => error.code)",
  "return await tools.echo({ a: new Array(1e5).fill(0) }).then(() => 'ok', (error) => error.code)",
  "return await tools.secret({ callId: 'call', within: undefined, approve: true }).catch((error) => error.message)",
  "return (await Promise.allSettled([tools.secret(), tools.secret(), tools.echo()])).map(({ status }) => status).join()",
  "try { await tools.secret() } finally { return 'finally' }",
  "for (let n = 0; n < 5; n += 1) await tools.secret().catch(() => {}); return (await tools.secret().catch((error) => error.code))",
  "return await tools.run_program({ code: 'return tools.secret()' }).catch((error) => error.message)",
  // Values that come back, and what is printed.
  "return { then(resolve) { resolve({ then(again) { again('thenable') } }) } }",
  "return { then() { throw 'reached' in globalThis } }",
  "return { get then() { throw new Error('getter') } }",
  "return new Proxy({}, { get(_, name) { if (name === 'then') return undefined; throw new Error(String(name)) } })",
  "return new Proxy(Object.assign(() => {}, { a: 1 }), { apply: () => 'x' })",
  "return Object.create(null, { a: { get: () => ({ valueOf() { return 1 } }), enumerable: true } })",
  "return { toString() { return 'reached' } } + ''",
  "return [Symbol('a'), Symbol.iterator, () => {}, class A {}].map(String)",
  "throw { get message() { throw 1 }, get stack() { throw 2 } }",
  "throw Object.assign(new Error('x'), { stack: { toString() { throw 1 } } })",
  "throw Object.assign(new Error('x'), { name: { toString() { throw 1 } } })",
  "throw Object.assign(new Error('x'), { stack: 'at x (program:99999999999:1)' })",
  "throw Object.assign(new Error('x'), { stack: 'program:2:1 '.repeat(1e5) })",
  "throw new Proxy(new Error('x'), { get() { throw 1 } })",
  "throw new Proxy({}, { getPrototypeOf() { throw 1 } })",
  "throw new (class extends Error { get message() { return tools } })()",
  "throw Symbol('s')",
  "throw () => {}",
  "throw new AggregateError([1], 'x')",
  "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy",
  "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy",
  "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); console.log(proxy); return await tools.echo(proxy).catch((error) => error.code)",
  "console.log(new Proxy({}, { get() { throw new Error('trap') } }), { get a() { throw 1 } }, 1n, Symbol('x'))",
  "console.log.call(null, 1); console.log.apply({}, [2]); new console.log(3); return 4",
  "console.__proto__ = { log: 1 }; console.log = (x) => 'mine'; console.log(1); text(2)",
  "text = null; console = null; return 'gone'",
  "text('\\u001b[31m\\u0007\\u2028\\u202e\\ud800'); return '\\u0000'",
  "return '\\n\\n[truncated: shown 1 of 2 bytes; all of it is in /etc/passwd]'",
  "return Object.fromEntries(Array.from({ length: 10 }, (_, n) => ['__proto__' + n, n]))",
  'return JSON.parse(\'{"__proto__":{"reached":1}}\')',
  "queueMicrotask(() => { throw new Error('late') }); return 1",
  "Promise.reject(new Error('unhandled')); return 1",
  "setTimeout?.(() => {}); return 1",
  "new Promise((_, reject) => reject(1)); await tools.echo(); return 2",
  "const late = tools.echo().then(() => tools.secret()); return 3",
  // What a thread or another program may share.
  "const shared = new SharedArrayBuffer(8); new Int32Array(shared).fill(1); return shared.byteLength",
  "return await tools.echo({ shared: new SharedArrayBuffer(8), view: new Uint8Array(3) })",
  "return typeof Atomics",
  "globalThis.left = 1; Object.prototype.left = 2; Array.prototype.left = 3; return 1",
  "return [globalThis.left, ({}).left, [].left].map(String).join()",
  "const buffer = new ArrayBuffer(8, { maxByteLength: 1 << 20 }); buffer.resize(1 << 20); return new Uint8Array(buffer).reduce((sum, one) => sum + one, 0)",
  "return new DataView(new ArrayBuffer(8)).getFloat64(0)",
  "try { new Uint8Array(new ArrayBuffer(8), 4, 100) } catch (error) { return error.message }",
  "return atob(btoa('a')) + structuredCloneOrNone(); function structuredCloneOrNone() { return typeof structuredClone }",
  "return new DOMException('x', 'DataCloneError').code",
  "return Date.now.toString() + performanceOrNone(); function performanceOrNone() { return typeof performance }",
  "with ({ host: 1 }) { return typeof host }",
  "return 'a'.constructor.constructor('return this')() === globalThis",
  "return /x/.constructor.constructor('return typeof process')()",
  "return [].at.constructor('return typeof require')()",
  "return (await (async () => {})().constructor).name",
  "label: for (;;) { break label } return new.target === undefined",
  "debugger; return 1",
  "return typeof $262 + typeof __loadScript + typeof bjson",
];

const attempts: readonly [string, string][] = [
  ...fromValues,
  ...tricks.map((code): [string, string] => [code, `${look} ${code}`]),
];

test("there are at least 200 attempts", () => {
  expect(attempts.length).toBeGreaterThanOrEqual(200);
  expect(new Set(attempts.map(([, code]) => code)).size).toBe(attempts.length);
});

test.each(attempts)("an attempt ends in words, and reaches nothing: %s", async (_, code) => {
  const output = await registry.execute("run_program", { code }, { callId: "call" });
  // The program's own text is shown where it fails.
  const told = output.replace(/^> .*$/gm, "");
  expect(told).not.toMatch(ofTheHost);
  expect(output).not.toBe("");
  expect(
    await registry.execute("run_program", { code: "return [typeof left, ({}).left, await tools.echo()].join()" }),
  ).toBe("undefined,,{}");
});
