import { expect, test } from "vitest";
import { readShellLine } from "../shell/readCommand.ts";

const last = (line: string) => {
  const { commands } = readShellLine(line);
  const { uncovered, words } = commands.find((command) => command.uncovered !== undefined) ?? { words: [] };
  return uncovered === undefined ? undefined : words.slice(0, uncovered.at + 1).join(" ");
};

test.each([
  ["git -c a=b log --oneline", "git -c a=b log --oneline"],
  ["git clone --upload-pack ./x y", "git clone --upload-pack ./x"],
  ["git fetch --upload-p=./x y", "git fetch --upload-p=./x y"],
  ["git clone ext::x y", "git clone ext::x"],
  ["git grep -nOless foo", "git grep -nOless foo"],
  ["git rebase -x ls main", "git rebase -x ls"],
  ["git bisect run ls", "git bisect run ls"],
  ["git submodule foreach ls", "git submodule foreach ls"],
  ["git archive --output=a HEAD", "git archive --output=a"],
  ["git log -1 --format=%G? a", "git log -1 --format=%G?"],
  ["git log --format=%G? --output=x a", "git log --format=%G? --output=x"],
  ["rg foo --pre=./x src", "rg foo --pre=./x"],
  ["rg foo --hostname-b ./x src", "rg foo --hostname-b ./x"],
  ["sort -uoa b c", "sort -uoa b"],
  ["sort --compress-prog=./x a", "sort --compress-prog=./x"],
  ["man -P ./x ls", "man -P ./x"],
  ["tar -xf a --to-command=./x b", "tar -xf a --to-command=./x"],
  ["ssh -oProxyCommand=./x a ls", "ssh -oProxyCommand=./x"],
  ["curl -so a b", "curl -so a"],
  ["make -f x all", "make -f x"],
  ["make all SHELL=./x", "make all SHELL=./x"],
  ["npm test --script-shell=./x", "npm test --script-shell=./x"],
  ["npm exec tool y", "npm exec tool y"],
  ["npx -y tsc -p .", "npx -y tsc"],
  ["node script.js a b", "node script.js"],
  ["node -e 1 a", "node -e 1"],
  ["node -r ./x y z", "node -r ./x y z"],
  ["/usr/bin/python3.11 -m pytest a", "/usr/bin/python3.11 -m pytest"],
  ["bash script.sh a", "bash script.sh"],
  ["gcc -o a b.c", "gcc -o a"],
  ["xargs rg foo", "rg foo"],
  ["find . -exec ls \\; -delete", "find . -exec ls ; -delete"],
  ["trap -- 'ls' EXIT", "trap -- ls EXIT"],
  ["eval -- 'ls'", "eval -- ls"],
  ["find . -exec ls \\; -name src/* -exec rm \\;", "find . -exec ls ; -name src/* -exec rm ;"],
  ["timeout --unknown 5 ls x", "timeout --unknown 5 ls x"],
  ["env -S 'ls x'", "env -S ls x"],
])("in %j a rule must spell out %j", (line, spelt) => {
  expect(last(line)).toBe(spelt);
});

test.each(["bash", "python3", "sh -e", "ls | bash", "sqlite3 a.db", "vim a", "find . -exec sh -c 'rm {}' \\;"])(
  "even all words of %j do not show what it runs",
  (line) => {
    const command = readShellLine(line).commands.at(-1);
    expect(command?.uncovered?.at).toBe(command?.words.length);
  },
);

test.each([
  "git log --oneline -p",
  "git commit -m x",
  "npm test -w packages/core",
  "npm run build --silent",
  "rg -n foo",
  "gcc -Wno-error -c a.c",
  "node --version",
  "command -v ls",
  "constructor x",
  "cargo test --release",
])("%j hides nothing", (line) => {
  expect(last(line)).toBeUndefined();
});
