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
  ["curl -so a b", "curl -so a"],
  ["curl --proto-redir file -L http://a", "curl --proto-redir file"],
  ["wget http://a/%2eenvrc b", "wget http://a/%2eenvrc"],
  ["wget 'http://a/.envrc#x' b", "wget http://a/.envrc#x"],
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
  ["tar xzQf a.tgz b", "tar xzQf a.tgz b"],
  ["tar Ocf a.tgz --to-command=x b", "tar Ocf a.tgz --to-command=x"],
  ["tar xzf a.tgz b", "tar xzf a.tgz b"],
  ["cp -S vrc -b x .en", "cp -S vrc -b x"],
  ["git --no-pager frobnicate a b", "git --no-pager frobnicate"],
  ["git frobnicate -x a", "git frobnicate -x a"],
  ["git --what log a", "git --what log a"],
  ["git remote -v add x y", "git remote -v add"],
  ["git log --output=x --format=%G? a", "git log --output=x --format=%G?"],
  ["git log --version --oneline --output=x", "git log --version --oneline --output=x"],
  ["npm --version x", "npm --version x"],
  ["curl -H @x y", "curl -H @x"],
  ["pytest a @b c", "pytest a @b"],
  ["make -j 4 -X --dir=y z", "make -j 4 -X --dir=y"],
  ["git fetch ./evil b", "git fetch ./evil"],
  ["python3 --version x", "python3 --version x"],
  ["node --help x", "node --help x"],
  ["node -e", "node -e"],
  ["python3 -m pytest -q -p x a", "python3 -m pytest -q -p x"],
  ["python3 -c 1 a", "python3 -c 1"],
  ["npx vitest run --config x a", "npx vitest run --config x"],
  ["npx unknown-tool a b", "npx unknown-tool"],
  ["npx vitest run src", "npx vitest"],
  ["pip3.11 install ./x y", "pip3.11 install ./x"],
  ["env -S 'ls x'", "env -S ls x"],
])("in %j a rule must spell out %j", (line, spelt) => {
  expect(last(line)).toBe(spelt);
});

test.each([
  "bash",
  "python3",
  "sh -e",
  "ls | bash",
  "sqlite3 a.db",
  "vim a",
  "find . -exec sh -c 'rm {}' \\;",
  "git apply",
  "git apply p.patch",
  "git am",
])("even all words of %j do not show what it runs", (line) => {
  const command = readShellLine(line).commands.at(-1);
  expect(command?.uncovered?.at).toBe(command?.words.length);
});

test.each([
  ["vim a", "vim runs what its words or its input say."],
  ["perf record x", "perf runs what its words say."],
  ["python3", "python runs its input."],
  ["node script.js", "node runs script.js."],
  ["sudo -X ls", "sudo runs another program."],
  [
    `rg ${"-".repeat(3)}${"a".repeat(37)}`,
    `${"-".repeat(3)}${"a".repeat(37)} of rg may run a program or a file, or write one.`,
  ],
  [`rg --${"a".repeat(39)}`, `--${"a".repeat(38)}… of rg may run a program or a file, or write one.`],
])("%j: %j", (line, why) => {
  expect(readShellLine(line).commands[0]?.uncovered?.why).toBe(why);
});

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
  "tar czf a.tgz b",
  "tar -czf a.tgz b",
  "cp -rt a b",
  "git fetch origin main",
  "git",
  "env",
  "command -V ls",
  "cat -- -x",
  "ls --unknown -x",
  "python3 --help",
  "npm --version",
  "my-node-18 --anything",
])("%j hides nothing", (line) => {
  expect(last(line)).toBeUndefined();
});
