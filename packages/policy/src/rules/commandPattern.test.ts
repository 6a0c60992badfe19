import { describe, expect, test } from "vitest";
import { type CommandPattern, coversCommand, mentions, parseCommandPattern } from "./patterns.ts";

function parsed(text: string): CommandPattern {
  const pattern = parseCommandPattern(text);
  if (typeof pattern === "string") throw new Error(pattern);
  return pattern;
}

const covers = (pattern: string, command: string): boolean => coversCommand(parsed(pattern), command.split(" "));

describe("a pattern of commands", () => {
  test.each([
    ["git status", ["git", "status"], false],
    ["  npm  test\t* ", ["npm", "test"], true],
    ["git commit -m 'a message'", ["git", "commit", "-m", "a message"], false],
    ['echo "it\'s" *', ["echo", "it's"], true],
    ["grep '*' x", ["grep", "*", "x"], false],
    ["a'b'\"c\"", ["abc"], false],
    ["echo ''", ["echo", ""], false],
    ["[ -f x ]", ["[", "-f", "x", "]"], false],
    ["find . -name '*.ts' *", ["find", ".", "-name", "*.ts"], true],
  ])("%s is read into words", (text, words, open) => {
    expect(parsed(text)).toEqual({ words, open });
  });

  test.each([
    ["*", "names no program"],
    ["* --force", "* may only be its last word"],
    ["git * push", "* may only be its last word"],
    ["npm run test:*", "* stands for whole words only at the end"],
    ["rm *.ts", "* stands for whole words only at the end"],
    ["a | b", "one simple command"],
    ["a; b", "one simple command"],
    ["a && b", "one simple command"],
    ["a > b", "one simple command"],
    ["a $x", "one simple command"],
    ["a `b`", "one simple command"],
    ['a "$x"', "cannot be split into words"],
    ["a 'b", "cannot be split into words"],
    ["a \\b", "cannot be split into words"],
  ])("%s is malformed, with the reason", (text, why) => {
    expect(parseCommandPattern(text)).toContain(why);
  });
});

describe("to allow", () => {
  test("git status is exactly that", () => {
    expect(covers("git status", "git status")).toBe(true);
    expect(covers("git status", "git status -s")).toBe(false);
    expect(covers("git status", "git")).toBe(false);
    expect(covers("git status", "git statusx")).toBe(false);
    expect(covers("git status", "GIT status")).toBe(false);
    expect(covers("git status", "/usr/bin/git status")).toBe(false);
  });

  test("npm test * allows any further words, or none", () => {
    expect(covers("npm test *", "npm test")).toBe(true);
    expect(covers("npm test *", "npm test -- a")).toBe(true);
    expect(covers("npm test *", "npm tests")).toBe(false);
    expect(covers("npm test *", "npm")).toBe(false);
  });
});

test("in a text that cannot be read, the words are found in order, whatever quotes are between", () => {
  const mentioned = (pattern: string, text: string): boolean => mentions(parsed(pattern), text);
  expect(mentioned("rm -rf *", "eval 'rm -rf /'")).toBe(true);
  expect(mentioned("rm -rf *", '$X; r\\m -"r"f x')).toBe(true);
  expect(mentioned("rm *", "R\\\nM x")).toBe(true);
  expect(mentioned("git push *", "push git")).toBe(false);
  expect(mentioned("rm *", "ls")).toBe(false);
  expect(mentioned("./deploy.sh *", "bash deploy.sh x")).toBe(true);
});
