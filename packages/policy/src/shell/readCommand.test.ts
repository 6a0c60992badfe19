// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expansions of the shell.
import { expect, test } from "vitest";
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
  ["for f in a b; do ls; done", ["", "ls"]],
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

test.each([
  "f() { ls; }; f",
  "cat <(ls)",
  "echo {a,b}",
  "echo a{1..3}",
  "$x",
  "`ls`",
  "l$x",
  "*/ls",
  "cat $x",
  'cat "$x"',
  "echo $x",
  "rg foo *.ts",
  "[ * ]",
  "[ -n * ]",
  "printf *",
  "grep foo *",
  "sort [a]*",
  "sed -n 1p -- *",
  'git commit "$x"',
  'git commit -F -m "$x"',
  'git log -m "$x"',
  "echo $(cat <<E\na\nE\nls 1;ls 2)",
  'echo "$(cat <<E\na\nE\n)$(ls; cat <<E\na\nE\n)"',
  "cat ~/x",
  "cat ~root/x",
  "echo $'a'",
  'echo $"a"',
  "((ls))",
  "[[ -f a ]]",
  "ls &> x",
  "ls >& x",
  "cat <<< x",
  "function f { ls; }",
  "ls |& cat",
  "ls {n}> x",
  "ls 10> x",
  "ls > $x",
  "ls > *",
  "cat < /dev/tcp/a/1",
  "x=(a b)",
  "x+=b",
  "x[0]=b",
  "coproc ls",
  "select x in a; do ls; done",
  "echo $((x))",
  "echo $((a[0]))",
  "echo $[1]",
  "echo ${x:=a}",
  'echo "${!x}"',
  'echo "${x/a/b}"',
  'echo "${x@P}"',
  'echo "${x:1}"',
  "echo `echo \\`ls\\``",
  "alias ls=rm",
  ". ./x",
  "source x",
  "shopt -s expand_aliases",
  "set -k",
  "set -a",
  "hash -p x ls",
  "enable -f x y",
  "declare x=1",
  "let x=1",
  "printf -v x y",
  "[ -v x ]",
  "read 'a[1]'",
  "unset 'a[1]'",
  "export 'a[1]=2'",
  'eval "$x"',
  'sh -c "$x"',
  "ls (",
  "ls )",
  "if ls",
  "echo 'a",
  "cat <<E\na",
  "cat <<E\na\\\nE\nE",
  "ls \\",
  "l\\\ns",
  "ls\r",
  "ls\u00a0-l",
  "ls\u200b",
  "ls\0",
  "ls \u202ex",
  `ls ${"a".repeat(10_000)}`,
  `${"(".repeat(300)}ls${")".repeat(300)}`,
  "for f in /etc/*; do ls; done",
  "sh -c 'echo {a,b}'",
])("%j is asked, as it cannot be judged", (line) => {
  expect(problem(line)).toMatch(/\.$|\.\/$/);
});

test.each(["echo $'a'", "ls &> x", "cat <<< x", "time { ls; }"])("%j is read for bash alone", (line) => {
  expect(problem(line)).toBeDefined();
  expect(problem(line, "/bin/bash")).toBeUndefined();
});

test("a shell whose language is not read makes any line unreadable", () => {
  expect(problem("ls", "/bin/zsh")).toContain("shell");
  expect(problem("ls", "pwsh")).toContain("shell");
  expect(problem("ls", "/bin/sh")).toBeUndefined();
});

test.each([
  'echo "$x" \'$y\' "${x:-a b}" "${x%.ts}" $? $((1 + 2))',
  "printf '%s\\n' \"$x\"",
  '[ -n "$x" ] && [ "$x" = y ] && test ! -f "$x" && [ $? -eq 0 ]',
  "ls src/*.ts *.md && grep foo *.ts",
  "git commit -q -m \"$(cat <<'EOF'\nAdd $x; `y`\nEOF\n)\"",
  'git commit -am one -m "$(ls)"',
  "git show HEAD~1 'stash@{0}' HEAD@{1} a:b",
  "find . -name '*.ts'",
  "grep -n foo$ a",
  "echo a=b a#b -- {} } !",
  "set -euo pipefail; set +x",
  "case $x in *) ls;; esac",
])("%j is read", (line) => {
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

test("assignments are returned wherever one hides", () => {
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

test("a change of the working directory is told, also inside a script within the line", () => {
  expect(readShellLine("ls && pwd").changesDirectory).toBe(false);
  for (const line of ["cd x && ls", "(cd x; ls)", "sh -c 'cd x'", "pushd x", "command cd x"]) {
    expect(readShellLine(line).changesDirectory).toBe(true);
  }
});

test("where sh may be bash 3.2, substitutions that it reads differently are asked", () => {
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
