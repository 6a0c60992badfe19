import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeName, isLegalName, nearestName } from "./names.ts";

describe("names", () => {
  test("only ^[a-zA-Z0-9_-]{1,64}$ is legal", () => {
    for (const name of ["a", "read_file", "A-1", "x".repeat(64)]) expect(isLegalName(name)).toBe(true);
    for (const name of ["", " ", "a b", "a.b", "é", "x".repeat(65), "a\n", "a\0"])
      expect(isLegalName(name)).toBe(false);
  });

  test("a free name is legal, new and derived from the taken one", () => {
    const legal = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(legal, fc.integer({ min: 0, max: 30 }), (name, others) => {
        const taken = new Set([name]);
        for (let i = 0; i < others; i += 1) taken.add(freeName(name, (n) => taken.has(n)));
        const free = freeName(name, (n) => taken.has(n));
        expect(taken.has(free)).toBe(false);
        expect(isLegalName(free)).toBe(true);
        expect(free.slice(0, 10).startsWith(name.slice(0, 10))).toBe(true);
      }),
    );
  });

  test("the nearest name forgives a typo, case and separators, and nothing far off", () => {
    const names = ["read_file", "write_file", "search_text"];
    expect(nearestName("raed_file", names)).toBe("read_file");
    expect(nearestName("ReadFile", names)).toBe("read_file");
    expect(nearestName("functions.search_text", names)).toBe(undefined);
    expect(nearestName("search-txt", names)).toBe("search_text");
    expect(nearestName("zzz", names)).toBe(undefined);
    expect(nearestName("", names)).toBe(undefined);
    expect(nearestName("x".repeat(1_000_000), names)).toBe(undefined);
  });

  test("a name of four letters or more is found again after one edit", () => {
    const word = fc.stringMatching(/^[a-z]{4,20}$/);
    fc.assert(
      fc.property(word, fc.nat(), (name, at) => {
        const position = at % name.length;
        expect(nearestName(name.slice(0, position) + name.slice(position + 1), [name])).toBe(name);
      }),
    );
  });
});
