import fc from "fast-check";
import { expect, test } from "vitest";
import { mountedNames } from "./mountedNames.ts";

const names = (...all: [server: string, name: string][]): string[] =>
  mountedNames(all.map(([server, name]) => ({ server, name })));

test("mounted names are legal and different, and the order of a list means nothing", () => {
  const word = fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom("a b", "a/b", "a.b", "a_b", "x".repeat(80)));
  const pair = fc.record({ server: word, name: word });
  const isSame = (a: { server: string; name: string }, b: typeof a): boolean =>
    a.server === b.server && a.name === b.name;
  fc.assert(
    fc.property(fc.uniqueArray(pair, { maxLength: 30, comparator: isSame }), (all) => {
      const made = mountedNames(all);
      expect(new Set(made).size).toBe(all.length);
      for (const name of made) expect(name).toMatch(/^mcp__[a-zA-Z0-9_-]{1,59}$/);
      expect(mountedNames([...all].reverse()).reverse()).toEqual(made);
    }),
  );
});

test.each<[what: string, all: [string, string][], expected: (string | RegExp)[]]>([
  ["a legal name stays", [["files", "read_file"]], ["mcp__files__read_file"]],
  ["a character alone is replaced", [["files", "read.file"]], ["mcp__files__read_file"]],
  [
    "names that become equal",
    [
      ["s", "a!"],
      ["s", "a?"],
    ],
    [/^mcp__s__a__[\da-f]{8}$/, /^mcp__s__a__[\da-f]{8}$/],
  ],
  [
    "one that is written so stays",
    [
      ["s", "a!"],
      ["s", "a_"],
    ],
    [/^mcp__s__a__[\da-f]{8}$/, "mcp__s__a_"],
  ],
  [
    "over two servers",
    [
      ["a", "b__c"],
      ["a__b", "c"],
    ],
    [/^mcp__a__b__c_[\da-f]{8}$/, /^mcp__a__b__c_[\da-f]{8}$/],
  ],
  ["a name that is cut", [["s", "x".repeat(80)]], [/^mcp__s__x{47}_[\da-f]{8}$/]],
  ["a server's that is cut", [["s".repeat(30), "a"]], [/^mcp__s{24}__a_[\da-f]{8}$/]],
])("%s", (_what, all, expected) => {
  expect(names(...all)).toEqual(expected.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)));
});
