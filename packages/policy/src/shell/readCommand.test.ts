// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expansions of the shell.
import { expect, test } from "vitest";
import { linesOf, rowsOf } from "../../../../testing/shell/corpora.ts";
import { readShellLine } from "./readCommand.ts";

const words = (line: string, shell?: string) =>
  readShellLine(line, { shell }).commands.map((command) => command.words.join(" "));
const problem = (line: string, shell?: string) => readShellLine(line, { shell }).unreadable;

test.each([
  ["ls -la && git status | head -20; pwd &", ["ls -la", "git status", "head -20", "pwd"]],
  ["ls\npwd", ["ls", "pwd"]],
  ["ls; # rm x\npwd", ["ls", "pwd"]],
  ["ls -l \\\n  -a", ["ls -l -a"]],
  ["if [ -f x ]; then cat x; elif pwd; then ls; else exit 1; fi", ["[ -f x ]", "cat x", "pwd", "ls", "exit 1"]],
  ["while pwd; do ls; done; until id; do wc; done", ["pwd", "ls", "id", "wc"]],
  ["for f in a b; do ls; done", [": a b", "ls"]],
  ["case a in a|b) ls;; *) pwd; id;; esac", ["ls", "pwd", "id"]],
  ["(ls; (pwd)) && { id; }", ["ls", "pwd", "id"]],
  ["! ls", ["ls"]],
  ['echo "$(ls "$(pwd)")"', ["pwd", 'ls "$(pwd)"', 'echo "$(ls "$(pwd)")"']],
  ['echo "`ls`"', ["ls", 'echo "`ls`"']],
  ["x=$(ls)", ["ls", ""]],
  ["cat <<E\n$(ls)\nE\npwd", ["ls", "cat", "pwd"]],
  ["cat <<'E'\n$(ls)\nE\npwd", ["cat", "pwd"]],
  ['echo "${x:-$(ls)}"', ["ls", 'echo "${x:-$(ls)}"']],
  [`l"s" '-l' a\\ b "c d"`, ["ls -l a b c d"]],
  ["timeout -s KILL 5 nice -n 3 ls -l", ["timeout -s KILL 5 nice -n 3 ls -l", "nice -n 3 ls -l", "ls -l"]],
  ["env -u A B=c ls", ["env -u A B=c ls", "ls"]],
  ["sudo -n ls", ["sudo -n ls", "ls"]],
  ["sh -c 'ls; pwd'", ["sh -c ls; pwd", "ls", "pwd"]],
  ["bash -ec 'sh -c ls'", ["bash -ec sh -c ls", "sh -c ls", "ls"]],
  ["xargs -0 -I{} rm {}", ["xargs -0 -I{} rm {}", "rm {}"]],
  ["find . -exec ls {} + -o -ok rm {} \\;", ["find . -exec ls {} + -o -ok rm {} ;", "ls {}", "rm {}"]],
  ["eval 'ls; pwd'", ["eval ls; pwd", "ls", "pwd"]],
  ["trap 'rm x' EXIT", ["trap rm x EXIT", "rm x"]],
])("every command of %j is found", (line, found) => {
  expect(words(line)).toEqual(found);
});

test.each(rowsOf<[string, string[]]>("readCommand", "reasons to ask"))(
  "%s is the reason to ask about %j",
  (reason, lines) => {
    expect(lines.map((line) => problem(line))).toEqual(lines.map(() => reason));
  },
);

test.each(["echo $'a'", "ls &> x", "cat <<< x", "time { ls; }"])("%j is read for bash only", (line) => {
  expect(problem(line)).toBeDefined();
  expect(problem(line, "/bin/bash")).toBeUndefined();
});

test("a shell whose language is not read makes any line unreadable", () => {
  expect(problem("ls", "/bin/zsh")).toContain("shell");
  expect(problem("ls", "pwsh")).toContain("shell");
  expect(problem("ls", "/bin/sh")).toBeUndefined();
});

test.each(linesOf("readCommand", "is read"))("%j is read", (line) => {
  expect(problem(line)).toBeUndefined();
});

test("redirections are returned with their files, duplicates of descriptors are not", () => {
  expect(readShellLine("cat < a >> b 2>&1 2>- >| c <> d 3<&-").redirections).toEqual([
    { kind: "read", path: "a" },
    { kind: "write", path: "b" },
    { kind: "write", path: "-" },
    { kind: "write", path: "c" },
    { kind: "write", path: "d" },
    { kind: "read", path: "d" },
  ]);
  expect(readShellLine("while ls; do pwd; done > 'a b'").redirections).toEqual([{ kind: "write", path: "a b" }]);
});

test("assignments are returned from anywhere in a line", () => {
  const names = (line: string) =>
    readShellLine(line).commands.flatMap(({ assignments }) => assignments.map(({ name }) => name));
  expect(names("A=1 B=2 ls")).toEqual(["A", "B"]);
  expect(names("A=1")).toEqual(["A"]);
  expect(names("export A=1 B")).toEqual(["A", "B"]);
  expect(names("readonly A=1")).toEqual(["A"]);
  expect(names("unset PATH")).toEqual(["PATH"]);
  expect(names("for PATH in /tmp; do ls; done")).toEqual(["PATH"]);
  expect(names("read -r PATH")).toEqual(["PATH"]);
  expect(names("env A=1 ls")).toEqual(["A"]);
  expect(names("sh -c 'A=1 ls'")).toEqual(["A"]);
});

test("a change of the working directory is reported, also inside a script within the line", () => {
  expect(readShellLine("ls && pwd").changesDirectory).toBe(false);
  for (const line of ["cd x && ls", "(cd x; ls)", "sh -c 'cd x'", "pushd x", "command cd x"]) {
    expect(readShellLine(line).changesDirectory).toBe(true);
  }
});

test("where sh may be bash 3.2, substitutions that it reads differently are asked about", () => {
  for (const line of [
    'git commit -m "$(cat <<\'EOF\'\na) " ls "\nEOF\n)"',
    "echo \"$(ls # '\n)\" 'a'",
    'echo "$(case a in a) ls;; esac)"',
  ]) {
    expect(readShellLine(line, { platform: "linux" }).unreadable).toBeUndefined();
    expect(readShellLine(line, { platform: "darwin" }).unreadable).toContain("old versions of bash");
  }
  expect(readShellLine('echo "$(ls)"', { platform: "darwin" }).unreadable).toBeUndefined();
});
