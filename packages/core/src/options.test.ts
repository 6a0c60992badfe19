import { expect, test } from "vitest";
import { checkOptions } from "./options.ts";

interface Options {
  root?: string | undefined;
  maxBytes?: number | undefined;
}

const check = (options: unknown): void =>
  checkOptions<Options>("createFsTools", options as Options, { root: true, maxBytes: true });

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
