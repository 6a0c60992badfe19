import { describe, expect, test } from "vitest";
import { parseRule } from "./parseRule.ts";

describe("a rule is parsed", () => {
  test.each([
    ["read_file", { binds: "tool", tool: "read_file", pattern: undefined }],
    ["write_file(src/**)", { binds: "tool", tool: "write_file", pattern: "src/**" }],
    ["write_file(app/(group)/page.tsx)", { binds: "tool", tool: "write_file", pattern: "app/(group)/page.tsx" }],
    ["run_bash(npm test *)", { binds: "tool", tool: "run_bash", pattern: "npm test *" }],
    ["mcp__git-hub__*", { binds: "server", prefix: "mcp__git-hub__", pattern: undefined }],
    ["mcp__github__get", { binds: "tool", tool: "mcp__github__get", pattern: undefined }],
    ["effect:read", { binds: "effect", kind: "read", pattern: undefined }],
    ["effect:network(example.com)", { binds: "effect", kind: "network", pattern: "example.com" }],
    ["effect:delete( x)", { binds: "effect", kind: "delete", pattern: " x" }],
  ])("%s", (text, expected) => {
    expect(parseRule(text, "allow")).toEqual({ ...expected, text });
  });
});

describe("a malformed rule throws a TypeError that names the list, the rule and what is wrong", () => {
  test.each([
    [undefined, "undefined is not a rule: it must be a string"],
    [5, "number is not a rule: it must be a string"],
    ["", "it is empty"],
    [" read_file", "spaces around it"],
    ["read_file ", "spaces around it"],
    ["a\0", "NUL"],
    ["read_file(", "parentheses are not balanced"],
    ["read_file)", "parentheses are not balanced"],
    ["read_file(a", "parentheses are not balanced"],
    ["read_file(a)b", "parentheses are not balanced, or something follows them"],
    ["read_file(a))", "parentheses are not balanced, or something follows them"],
    ["read_file()", "the pattern in parentheses is empty"],
    ["read_file( )", "the pattern in parentheses is empty"],
    ["(a)", '"" cannot be the name of a tool'],
    ["*", "may only end in * as mcp__server__*"],
    ["read_*", "may only end in * as mcp__server__*"],
    ["mcp__*", "may only end in * as mcp__server__*"],
    ["mcp__a__*b", "may only end in * as mcp__server__*"],
    ["x mcp__a__*", "may only end in * as mcp__server__*"],
    ["mcp__a__*(x)", "mcp__server__* takes no pattern"],
    ["effect:wrote", 'there is no effect "wrote", did you mean write?'],
    ["effect:", "effects are read, write, delete, execute, network"],
    ["effect:zzzzzzzz", "there is no effect"],
    ["read file", '"read file" cannot be the name of a tool'],
    ["x".repeat(65), "cannot be the name of a tool"],
    [`a(${"x".repeat(8200)})`, "longer than 8192 characters"],
  ])("%s", (text, message) => {
    expect(() => parseRule(text, "deny")).toThrow(TypeError);
    expect(() => parseRule(text, "deny")).toThrow(message);
    expect(() => parseRule(text, "deny")).toThrow(/^deny: .* is not a rule: .*A rule is tool, tool\(pattern\)/);
  });

  test("a long rule is cut in the error, and invisible characters are shown", () => {
    expect(() => parseRule(`a\u200b${"x".repeat(300)} `, "ask")).toThrow(/<U\+200B>x{50,120}…"/);
  });

  test("a rule of the greatest length is accepted", () => {
    expect(parseRule(`a(${"x".repeat(8189)})`, "allow").pattern).toHaveLength(8189);
  });
});
