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

test.each<[string, string[]]>([
  ["It defines a function.", ["f() { ls; }; f", "function f { ls; }"]],
  ["It has a process substitution.", ["cat <(ls)"]],
  [
    "It has a list in braces, which sh and bash read differently.",
    ["echo {a,b}", "echo a{1..3}", "sh -c 'echo {a,b}'"],
  ],
  ["The name of a program in it is not written out.", ["$x", "`ls`", "l$x", "*/ls"]],
  ["An expansion in it is outside quotes, so it may become several words.", ["cat $x", "echo $x"]],
  ["A word of cat is not written out, so it may be an option or any path.", ['cat "$x"']],
  ["A file pattern of rg may become an option; it could not with ./ before it.", ["rg foo *.ts"]],
  ["A file pattern of [ may become an option; it could not with ./ before it.", ["[ * ]", "[ -n * ]"]],
  ["A file pattern of printf may become an option; it could not with ./ before it.", ["printf *"]],
  ["A file pattern of grep may become an option; it could not with ./ before it.", ["grep foo *"]],
  ["A file pattern of sort may become an option; it could not with ./ before it.", ["sort [a-]*"]],
  ["A file pattern of sed may become an option; it could not with ./ before it.", ["sed -n 1p -- *"]],
  [
    "A word of git is not written out, so it may be an option or any path.",
    ['git commit "$x"', 'git commit -F -m "$x"', 'git log -m "$x"'],
  ],
  [
    "It has a here-document beside other commands in a substitution.",
    ["echo $(cat <<E\na\nE\nls 1;ls 2)", 'echo "$(cat <<E\na\nE\n)$(ls; cat <<E\na\nE\n)"'],
  ],
  ["It has a path from a home folder (~).", ["cat ~/x", "cat ~root/x"]],
  ["It has $'…', which sh and bash read differently.", ["echo $'a'"]],
  ["An expansion in it could not be read.", ['echo $"a"', 'echo "${!x}"']],
  ["It has ((, which sh and bash read differently.", ["((ls))"]],
  ["It has [[, which sh and bash read differently and which can compute.", ["[[ -f a ]]"]],
  ["It has &>, which sh and bash read differently.", ["ls &> x"]],
  ["It has >& with a word, which sh and bash read differently.", ["ls >& x"]],
  ["It has <<<, which sh and bash read differently.", ["cat <<< x"]],
  ["It has |&, which sh and bash read differently.", ["ls |& cat"]],
  ["It redirects a descriptor that sh and bash read differently.", ["ls {n}> x", "ls 10> x"]],
  ["It redirects to a file that is not written out.", ["ls > $x", "ls > *"]],
  ["It redirects to the network.", ["cat < /dev/tcp/a/1"]],
  ["An assignment in it could not be read.", ["x=(a b)", "x+=b", "x[0]=b"]],
  ["It has coproc, which sh and bash read differently.", ["coproc ls"]],
  ["It has select, which sh and bash read differently.", ["select x in a; do ls; done"]],
  ["It computes with more than numbers.", ["echo $((x))", "echo $((a[0]))", "echo $[1]"]],
  [
    "It has an expansion that assigns, computes or works only in bash.",
    ["echo ${x:=a}", 'echo "${x/a/b}"', 'echo "${x@P}"', 'echo "${x:1}"'],
  ],
  ["A command substitution in it could not be read.", ["echo `echo \\`ls\\``"]],
  ["alias changes what the commands after it mean.", ["alias ls=rm"]],
  [". changes what the commands after it mean.", [". ./x"]],
  ["source changes what the commands after it mean.", ["source x"]],
  ["shopt changes what the commands after it mean.", ["shopt -s expand_aliases"]],
  ["set changes how the commands after it are read.", ["set -k", "set -a"]],
  ["hash changes what the commands after it mean.", ["hash -p x ls"]],
  ["enable changes what the commands after it mean.", ["enable -f x y"]],
  ["declare changes what the commands after it mean.", ["declare x=1"]],
  ["let changes what the commands after it mean.", ["let x=1"]],
  ["printf assigns a variable.", ["printf -v x y"]],
  ["[ -v computes with its words.", ["[ -v x ]"]],
  ["read has a word that is not a name.", ["read 'a[1]'"]],
  ["unset has a word that is not a name.", ["unset 'a[1]'"]],
  ["export has a word that is not a name.", ["export 'a[1]=2'"]],
  ["A word of eval is not written out, so it may be an option or any path.", ['eval "$x"']],
  ["A word of sh is not written out, so it may be an option or any path.", ['sh -c "$x"']],
  ["A part of it could not be read.", ["ls ("]],
  ["It is not complete, or not shell syntax.", ["ls )", "if ls", "echo 'a", `${"(".repeat(300)}ls${")".repeat(300)}`]],
  ["A here-document in it could not be read.", ["cat <<E\na", "cat <<E\na\\\nE\nE"]],
  ["A word in it is continued on another line.", ["ls \\", "l\\\ns"]],
  ["It contains the invisible or control character U+000D.", ["ls\r"]],
  ["It contains the invisible or control character U+00A0.", ["ls\u00a0-l"]],
  ["It contains the invisible or control character U+200B.", ["ls\u200b"]],
  ["It contains the invisible or control character U+0000.", ["ls\u0000"]],
  ["It contains the invisible or control character U+202E.", ["ls \u202ex"]],
  ["It is longer than 10,000 characters.", [`ls ${"a".repeat(10_000)}`]],
])("%s is the reason to ask about %j", (reason, lines) => {
  expect(lines.map((line) => problem(line))).toEqual(lines.map(() => reason));
});

test.each(["echo $'a'", "ls &> x", "cat <<< x", "time { ls; }"])("%j is read for bash only", (line) => {
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
