import { expect, test } from "vitest";
import { compileHostPattern } from "./patterns.ts";

function matches(pattern: string, host: string): boolean {
  const compiled = compileHostPattern(pattern);
  if (typeof compiled === "string") throw new Error(compiled);
  return compiled(host);
}

test("a host matches only itself, in any letter case, with or without a last dot", () => {
  expect(matches("example.com", "example.com")).toBe(true);
  expect(matches("Example.com", "eXample.COM.")).toBe(true);
  expect(matches("example.com.", "example.com")).toBe(true);
  expect(matches("example.com", "a.example.com")).toBe(false);
  expect(matches("example.com", "example.com.evil.test")).toBe(false);
  expect(matches("example.com", "notexample.com")).toBe(false);
  expect(matches("localhost", "localhost")).toBe(true);
  expect(matches("127.0.0.1", "127.0.0.1")).toBe(true);
  expect(matches("[::1]", "::1")).toBe(true);
  expect(matches("::1", "[::1]")).toBe(true);
});

test("*.example.com matches every host below it, not itself", () => {
  expect(matches("*.example.com", "a.b.example.com")).toBe(true);
  expect(matches("*.example.com", "example.com")).toBe(false);
  expect(matches("*.example.com", "badexample.com")).toBe(false);
});

test.each(["*", "a.*", "*.*.com", "", ".com", "a..b", "http://a", "a/b", "a b", "-a.com", "a:80", "a-.com"])(
  "%s is malformed",
  (pattern) => {
    expect(typeof compileHostPattern(pattern)).toBe("string");
  },
);

test("the error says where a * may stand", () => {
  expect(compileHostPattern("a.*")).toContain("before the first dot");
  expect(compileHostPattern("a b")).toContain("not the name or address of a host");
});
