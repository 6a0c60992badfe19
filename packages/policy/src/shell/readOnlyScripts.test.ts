import { expect, test } from "vitest";
import { isPlainAwkProgram, isPlainJqFilter, isPlainSedScript } from "./readOnlyScripts.ts";

test.each([
  "",
  "p",
  "1p",
  "$p",
  "1,5p",
  "1,+5p",
  "0~3p",
  "/a/p",
  "/a/,/b/p",
  "/a/,$d",
  "$!N",
  "/a\\/b/ ! p",
  "1p;2p\n3d ; q",
  "s/a/b/",
  "s/a/b/gpiI2m",
  "s|a/b|c;d|g; s,a,b,",
  "s/[a-z]/x/;p",
  "s/[]a]/[/;s/[^]]/]/",
  "s/[[:space:]]*$//;s/[[.a.][=b=]c]/x/",
  "/[[]/p",
  "s/[\\n]/x/",
  "s/a\\/w/b/",
  "1!G;h;$!d",
  "=;l;x;g;G;H;P;D;n;N",
])("the script of sed %j only selects, changes and prints", (script) => {
  expect(isPlainSedScript(script)).toBe(true);
});

test.each([
  "w a",
  "1w a",
  "W a",
  "r a",
  "R a",
  "e",
  "1e ls",
  "s/a/b/w c",
  "s/a/b/e",
  "s/a/b/ge",
  "s/a/b/gw c",
  "s/a/b/;w c",
  "p w",
  "pw",
  "a text",
  "i text",
  "c text",
  "y/a/b/",
  "b",
  "t",
  ":a",
  "{p}",
  "#n",
  "v",
  "F",
  "z",
  "s",
  "s/a",
  "s/a/b",
  "s/[/]/x/;w a",
  "s/a/[/;w b/",
  "s/[/]/p;s/w f/b/",
  "s/[]/]/p;s/w f/b/",
  "s/[^]/]/p;s/w f/b/",
  "s/[[:space:]/]/p;s/w f/b/",
  "s/[[:space/]/p;s/w f/b/",
  "s/[\\]/]/p;s/w f/b/",
  "s/[a\n]/b/",
  "s/[[:a\n:]]/b/",
  "s[a[b[",
  "1p 2",
  "1p x",
  "s/a/b/ x",
  "/a/,",
  "/[/]/p",
  "/a",
  "/a\n/p",
  "s/a\n/b/",
  "saxbx",
  "s a b ",
  "s\\a\\b\\",
  "s;a;b;",
  "s\na\nb\n",
  "1,",
  "1,/a",
  "1",
])("the script of sed %j may do more", (script) => {
  expect(isPlainSedScript(script)).toBe(false);
});

test.each([
  "{ print $1 }",
  "NR >= 10 && NR <= 20 || $3 > 5",
  "$3 > 5 { x = $1 >= 2 || y; print x }",
  'BEGIN { FS = ":" } { n += $2 } END { printf "%d", n }',
  "/system2/",
])("the program of awk %j only reads its input", (program) => {
  expect(isPlainAwkProgram(program)).toBe(true);
});

test.each([
  'BEGIN { system("ls") }',
  '"ls" | getline',
  '{ print | "sh" }',
  '{ print > "a" }',
  '{ print >> "a" }',
  "{ print $1 > 5 }",
  "1 { } $1 > 5",
  '{ print ||| "sh" }',
  '{ print >>= "a" }',
  'BEGIN { getline x < "a" }',
  '@include "a"',
  '@load "a"',
  '{ f = "x"; @f() }',
  'BEGIN { ARGV[1] = "a" }',
  "BEGIN { ARGC = 2 }",
  "BEGIN { ARGIND = 2 }",
  "BEGIN { print ENVIRON[1] }",
  "BEGIN { print PROCINFO[1] }",
  "BEGIN { SYMTAB[1] = 1 }",
  "BEGIN { FUNCTAB[1] }",
  "{ close(1) }",
  "{ fflush() }",
  "namespace",
  "include",
  "load",
  "a\\b",
  "a`b",
])("the program of awk %j may run a command or open a file", (program) => {
  expect(isPlainAwkProgram(program)).toBe(false);
});

test.each([".", '.a[] | select(.b == "c") | keys', ".environment", ".imports"])(
  "the filter of jq %j reads only its input",
  (filter) => {
    expect(isPlainJqFilter(filter)).toBe(true);
  },
);

test.each([
  "env",
  ".a, env.HOME",
  "$ENV",
  'import "a" as b; .',
  'include "a"; .',
  "modulemeta",
  "get_search_list",
  "input_filename",
  '"\\(env)"',
])("the filter of jq %j reads more than its input", (filter) => {
  expect(isPlainJqFilter(filter)).toBe(false);
});
