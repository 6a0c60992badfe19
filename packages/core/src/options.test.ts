import { expect, test } from "vitest";
import { option, readOptions, withDefault } from "./options.ts";

interface Options {
  root?: string | undefined;
  maxBytes?: number | undefined;
}

const check = (options: unknown): unknown =>
  readOptions<Options>("createFsTools", options as Options, { root: true, maxBytes: true });

test("known options pass, whatever their values", () => {
  check({});
  check({ root: undefined, maxBytes: 1 });
  check(Object.assign(Object.create(null), { root: "/x" }));
});

test("an unknown option is refused with the nearest known name and the list", () => {
  expect(() => check({ rot: "/x" })).toThrow(
    new TypeError('createFsTools: unknown option "rot"; did you mean "root"? Known options: root, maxBytes'),
  );
  expect(() => check({ maxbytes: undefined })).toThrow('did you mean "maxBytes"?');
  expect(() => check({ somethingElse: 1 })).toThrow(
    new TypeError('createFsTools: unknown option "somethingElse". Known options: root, maxBytes'),
  );
  expect(() => check(JSON.parse('{"__proto__":{"root":"/x"}}'))).toThrow('unknown option "__proto__"');
  expect(() => check({ toString: 1 })).toThrow('unknown option "toString"');
});

class Settings {
  root = "/x";
}

test.each([
  [null, "null"],
  ["/x", "a string"],
  [["/x"], "an array"],
  [new URL("file:///x"), "an instance of URL"],
  [new Settings(), "an instance of Settings"],
  [() => undefined, "a function"],
])("%o is not an options object", (given, kind) => {
  expect(() => check(given)).toThrow(
    new TypeError(`createFsTools: options must be a plain object with any of root, maxBytes, got ${kind}`),
  );
});

const specs = {
  name: option.name,
  key: option.text,
  mode: option.oneOf("ask", "full"),
  steps: withDefault(option.positive, 50),
  bytes: withDefault(option.bytes, Number.POSITIVE_INFINITY),
  store: option.withMethods("load", "save"),
  price: option.group<{ input?: number; output?: number }>({
    input: { ...option.positive, needed: "always" },
    output: option.positive,
  }),
  tools: { ...option.texts, needed: "if written" as const },
};
const read = (given: unknown) =>
  readOptions<Partial<Record<keyof typeof specs, unknown>>, typeof specs>("createAgent", given as object, specs);

test("options are read with their defaults; undefined counts as left out", () => {
  expect(read({ name: "a", steps: undefined, bytes: 3, price: { input: 1 } })).toEqual({
    name: "a",
    steps: 50,
    bytes: 3,
    price: { input: 1 },
  });
  expect(read({ store: { load: () => 1, save: () => 1 }, tools: [] })).toMatchObject({ steps: 50, tools: [] });
});

test.each([
  [{ name: "" }, "name must be a non-empty string, received a string; leave it out for the default"],
  [{ mode: "fast" }, 'mode must be one of ask, full, received "fast"; leave it out for the default'],
  [{ steps: 0 }, "steps must be a number above 0, received 0; leave it out for 50"],
  [{ steps: null }, "steps must be a number above 0, received null; leave it out for 50"],
  [{ steps: "5" }, 'steps must be a number above 0, received "5"; leave it out for 50'],
  [{ bytes: 0.5 }, "bytes must be a number of bytes of at least 1, or Infinity for no limit, received 0.5; leave"],
  [
    { store: { load: () => 1 } },
    "store must be an object with load and save, received an object; leave it out for none",
  ],
  [{ price: new Map() }, "price must be a plain object, received an instance of Map"],
  [{ price: {} }, "price.input must be a number above 0, received undefined"],
  [{ price: { input: 1, output: -1 } }, "price.output must be a number above 0, received -1"],
  [{ price: { input: 1, outputs: 1 } }, 'unknown option "price.outputs"; did you mean "output"?'],
  [{ tools: undefined }, "tools must be an array of strings, received undefined"],
])("%j is refused in the same words everywhere", (given, words) => {
  expect(() => read(given)).toThrow(`createAgent: ${words}`);
});

test("a value that may be a secret is not shown", () => {
  const key = "sk-0123456789";
  for (const given of [{ key: [key] }, { store: key }, { price: key }, { tools: key }, { name: { [key]: 1 } }])
    expect(() => read(given)).toThrow(expect.objectContaining({ message: expect.not.stringContaining(key) }));
});
