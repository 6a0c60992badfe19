import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { expectJudged } from "../../../../testing/shell/judgeLine.ts";
import { largeFolder, memoryFolder } from "../../../../testing/shell/largeFolder.ts";
import { createRunBashTool } from "../../../tools-bash/src/runBash.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
const put = (path: string, text = "x\n"): void => writeIn(root, path, text);
const programs = "rsync find zip scp docker docker-compose podman git tar 7z chmod chown echo rm npm".split(" ");
const allow = [...programs.map((program) => `run_bash(${program} *)`), "run_bash(7z a x.7z .)"];
const deny = ["effect:read(.env)"];

async function all(options: PolicyOptions, expected: string, commands: readonly string[]): Promise<void> {
  const policy = createPolicy({ roots: root, home: join(root, "home"), allow, ...options });
  await expectJudged(policy, commands, expected, root);
}

beforeEach(() => {
  root = temporaryFolder("policy-below");
  put(".git/HEAD", "ref: refs/heads/main\n");
  put("app/.env");
  put("src/a.ts");
});

test("an image that is built of a folder may take a denied file there", async () => {
  const lines = linesOf("below", "build an image");
  await all({ deny }, "ask", lines);
  await all({ deny, mode: "full" }, "ask", ["docker build --file x ."]);
  await all({}, "allow", lines);
  await all({ deny }, "allow", ["docker build src", "docker compose ps", "docker images"]);
});

test("git is asked about a denied file in a folder that it takes, as it may ignore it, but not if it is told to", async () => {
  const taking = ["git add .", "git add -A", "git add -v app", "git stash -u", "cd src && git add -A", "git add ':/'"];
  const forced = ["git add -f .", "git add -fA", "git add --force app"];
  const stashed = ["git stash -a", "git stash push -qa -m x"];
  const others = ["git add src", "git commit -am x", "git stash", "git stash push -m a"];
  await all({ deny }, "ask", [...taking, ...stashed]);
  for (const options of [{ deny }, { deny, mode: "full" } as const]) await all(options, "deny", forced);
  await all({ ask: deny }, "ask", forced);
  await all({ deny }, "allow", others);
  await all({}, "allow", [...taking, ...forced, ...stashed, ...others]);
});

test("a copy that deletes what its target has beside, and find -delete, are judged as deletions", async () => {
  put("prod/x");
  put("tpl/.vscode/tasks.json");
  put("out/a");
  await all({}, "ask", ["rsync -a --delete src/ .", "rsync -a --delete src/ tpl", "rsync -r --delete out/ tpl"]);
  await all({}, "allow", ["rsync -a --delete src/ out", "rsync -a src/ tpl", "rsync -a --delete out host:/x"]);
  const kept = { deny: ["effect:delete(prod/x)"] };
  await all(kept, "deny", ["rsync -a --delete out/ prod/"]);
  await all({ ...kept, mode: "full" }, "deny", ["rsync -a --delete-after out/ prod/", "find prod -delete"]);
  await all({ mode: "full" }, "ask", ["find . -delete", "find . -type f -delete", "find tpl -mtime +1 -delete"]);
  await all({ mode: "full" }, "ask", ["find . -type f -exec rm {} +", "find . -type f | xargs sed -i s/a/b/"]);
  await all({ mode: "full" }, "allow", [
    "find src -exec rm {} +",
    "find . -exec grep a {} +",
    "git ls-files | xargs sed -i s/a/b/",
  ]);
  await all({}, "ask", ["git worktree remove -f tpl"]);
  await all({ mode: "full" }, "allow", ["find . -name '*.pyc' -delete", "find src -delete", "find . -name a -delete"]);
  await all({ mode: "full" }, "ask", ["find . -name tasks.json -delete", "find . -name 'tasks.*' -exec rm {} +"]);
  const denied = [
    "find -name x -delete",
    "find . -name '?' -delete",
    "find . -iname X -delete",
    "find . ! -name a -delete",
  ];
  await all({ ...kept, mode: "full" }, "deny", [...denied, "find . -name '*.tmp' -o -delete"]);
  await all({ mode: "full" }, "ask", ["find . ! -name a -type f -exec truncate -s0 {} +"]);
  await all({ ...kept, mode: "full" }, "deny", ["find . -name '\\x' -delete"]);
  await all({ ...kept, mode: "full" }, "ask", ["find . -path './pro*' -delete", "find . -regex '.*x' -delete"]);
  await all({ mode: "full" }, "allow", ["find . -path './pro*' -delete"]);
  await all({ ...kept, mode: "full" }, "allow", ["find . -name y -delete", "find src -name x -delete"]);
});

test("words that a line does not show may name what a rule of files forbids", async () => {
  const lines = linesOf("below", "take words that the line does not show");
  await all({ deny, mode: "full" }, "ask", lines);
  await all({ mode: "full" }, "allow", lines.slice(1, 4));
  const handing = ["xargs -a list git", "xargs -I{} sh -c {} < list", "xargs -a list env", "find . -exec sh -c {} +"];
  await all({ mode: "full", deny: ["run_bash(git push *)"] }, "ask", handing);
  await all({ mode: "full", deny: ["run_bash(git push *)"] }, "allow", [
    "find . -name a | xargs cat",
    "xargs -0 wc < list",
  ]);
});

test("words that are text to a command open nothing, nor does a copy of nothing", async () => {
  await all({ deny }, "allow", ["find . | xargs echo", "ls | xargs -n 1 basename", "find . -exec echo {} +"]);
  await all({ deny, mode: "full" }, "allow", ["cp --help", "mv", "rsync", "git mv"]);
  await all({ mode: "full" }, "ask", ["find . -name x | parallel rm -rf", "x mv"]);
  await all({ deny, mode: "full" }, "allow", ["ls | rm -rf", "tar -tvf -", "docker build", "rm -r -f src"]);
  await all({ deny, mode: "full" }, "ask", ["echo `rm a`", 'rm -rf "$x"']);
  await all({ deny, mode: "full" }, "deny", ["find . | cpio -o", "ls | pax -w"]);
  await all({ mode: "full" }, "ask", ['find . -name "$x" -exec rm {} \\;']);
  await all({ deny, mode: "full" }, "ask", ["ls | xargs cat", "find . -exec wc {} +", "sort --files0-from=x"]);
});

test("the value of an option is not taken for the folder that a command is about", async () => {
  const keeping: PolicyOptions = { deny: ["effect:delete(app/.env)"] };
  put("app/.vscode/tasks.json");
  await all({}, "ask", ["git clean -fd -e x", "git clean -fde x", "git clean -fd --exclude x", "git clean -e x -fdx"]);
  await all({ ...keeping, mode: "full" }, "ask", ["git clean -fd -e x", "git clean -fd --unknown x"]);
  await all({ deny }, "ask", ["git add -A --chmod +x", "git add -Av --chmod +x", "git add --pathspec x -A"]);
  await all({ deny }, "allow", ["git clean -fd -e x src", "git add --chmod +x src"]);
});

test("a pattern deletes what it stands for, not its folder", async () => {
  put("a.log");
  put("tpl/.vscode/tasks.json");
  const kept: PolicyOptions = { deny: ["effect:delete(src/a.ts)"] };
  for (const options of [{}, kept]) await all(options, "allow", ["rm *.log", "rm -f *.o", "rm ./*.log", "rm -r zz*"]);
  await all(kept, "deny", ["rm -r s*", "rm src/*.ts"]);
  await all({}, "ask", ["rm -r *", "rm -r .*", "rm -r t*"]);
  // A shell that is told so lets a pattern stand for names with a dot, too.
  await all({ mode: "full" }, "ask", ["shopt -s dotglob; rm -r s*"]);
});

test("a word of git that is named as a subcommand is not one", async () => {
  await all({ deny }, "allow", ["git commit -m log", "git checkout -b show"]);
});

test("git shows files that are not tracked, if it is told to", async () => {
  const lines = ["git grep --no-index a", "git grep --untracked --no-exclude-standard a", "git diff --no-index src ."];
  await all({ deny, mode: "full" }, "ask", lines);
  await all({ mode: "full" }, "allow", lines);
});

test("a stash of untracked files takes away what must not be deleted", async () => {
  const kept = { deny: ["effect:delete(.env)"] };
  await all(kept, "ask", ["git stash -u", "git stash -a", "git stash push -a", "git stash", "git stash pop"]);
  await all(kept, "allow", ["git stash list", "git stash drop"]);
  put("app/.envrc");
  await all({}, "allow", ["git stash -a"]);
});

test("a folder that holds more than is looked through is asked about", async () => {
  root = memoryFolder();
  put(".git/HEAD", "ref: refs/heads/main\n");
  largeFolder(join(root, "node_modules"));
  await all({ deny }, "ask", ["git add -A", "tar c ."]);
  await all({ deny }, "allow", ["git add src", "tar c src"]);
  await all({ mode: "full" }, "allow", ["git add -A", "tar c .", "find . -name a -delete"]);
  await all({ mode: "full", deny: ["effect:delete(x)"] }, "ask", ["find . -name a -delete"]);
});

test("a folder is left to a sandbox that holds every rule about files, but for what a repository keeps of them", async () => {
  const tool = createRunBashTool({ cwd: root, root, sandbox: true, deny: [".env"] });
  const policy = createPolicy({ mode: "full", roots: root, home: join(root, "home"), deny });
  const decide = async (command: string) =>
    (await policy.explain({ name: "run_bash", args: { command }, tool })).decision;
  for (const command of ["git add -A", "docker build .", "md5sum -c list"]) expect(await decide(command)).toBe("allow");
  const unread = ["echo x | sh", "cat $(cat list)", "for f in a b; do cd $f; cat x; done"];
  for (const command of unread) expect(await decide(command)).toBe("allow");
  for (const command of ["git archive HEAD", "git log -p", "hg diff"]) expect(await decide(command)).toBe("ask");
  for (const command of ["tar c .", "git add -f .", "echo cat app/.env | sh"])
    expect(await decide(command)).toBe("deny");
  await all({ deny, mode: "full" }, "ask", unread);
});

test("a program that opens what a list names is asked about a denied file below the folder", async () => {
  put("list");
  const sums = ["md5sum -c list", "sha256sum --check --quiet list"];
  await all({ deny }, "ask", sums);
  await all({ deny: ["effect:read(zzz)"] }, "allow", [...sums, "cd src && md5sum -c a.ts"]);
  await all({}, "allow", sums);
  await all({ allow: [] }, "ask", ["md5sum -c", "cat list | md5sum -c -"]);
  const unsettled = ["tar c -T list", "rsync -a --files-from=list src out"];
  await all({ deny: ["effect:read(zzz)"], mode: "full" }, "ask", unsettled);
  await all({ mode: "full" }, "allow", unsettled);
});

test("a change that hg or svn shows may be one of a denied file", async () => {
  const rules = ["run_bash(hg *)", "run_bash(svn *)"];
  const lines = ["hg diff", "hg log -p", "svn diff app"];
  await all({ allow: rules, deny }, "ask", lines);
  await all({ allow: rules }, "allow", lines);
  await all({ allow: rules, deny }, "allow", ["hg log -l 5", "hg status", "hg diff src", "svn log"]);
});

test("a program that follows the links in a folder may take a denied file by one", async () => {
  mkdirSync(join(root, "links"));
  symlinkSync("../app", join(root, "links/l"));
  const told = [
    "cp -rL links q",
    "tar chf - links",
    "tar --dereference -cf x links",
    "grep -R a links",
    "rg -L a links",
  ];
  await all({ deny, mode: "full" }, "ask", told);
  await all({ mode: "full" }, "allow", told);
  const lines = ["zip -r x.zip links", "scp -r links host:x", "scp -r ./li* host:x"];
  await all({ deny }, "ask", lines);
  await all({ deny, mode: "full", allow: [] }, "ask", [...lines, "7z a x.7z links", "diff -r links src"]);
  await all({}, "allow", lines);
  await all({ deny }, "allow", ["zip -r x.zip src", "scp -r src host:x", "tar c links"]);
});

test("git clean is asked about a denied or protected file that it may delete", async () => {
  const lines = ["git clean -fdx", "git clean -fX app", "git clean -ffd nested"];
  put("nested/.git/HEAD", "x\n");
  put("app/.envrc");
  await all({}, "ask", lines);
  rmSync(join(root, "app/.envrc"));
  rmSync(join(root, "nested"), { recursive: true });
  await all({}, "allow", ["git clean -fdx", "git clean -fd src"]);
  await all({ deny: ["effect:delete(.env)"] }, "ask", ["git clean -fdx", "git clean -f app"]);
  await all({ deny: ["effect:delete(.env)"] }, "allow", ["git clean -n", "git clean -fdx src"]);
});

test("a program that packs a folder takes a denied file there, whatever rule allows it", async () => {
  await all({ deny }, "deny", ["7z a x.7z .", "tar c app", "/usr/bin/tar c ."]);
  await all({ deny }, "ask", ["git archive HEAD", "git format-patch -1"]);
});

test("a mode or an owner is not changed where a protected or denied file lies below", async () => {
  await all({}, "ask", ["chmod -R 777 .", "chown -vR me ./*/../.", "chmod --rec +x .g*", "xargs chmod -R 777 ."]);
  await all({ mode: "full" }, "ask", ["sudo -x chmod -R 777 ."]);
  await all({ deny: ["effect:write(app/.env)"] }, "deny", ["chmod -R 777 app", "chmod -R 777 a*"]);
  await all({}, "allow", ["chmod -R u+x src", "chmod 755 .", "chmod +x src/a.ts", "chmod -R 755 s*"]);
});

test("what git leaves out or can put back does not count for another command of the line", async () => {
  const lines = [
    `rm -rf ${root}`,
    `rm -rf ${root}; git stash -a`,
    `git stash -a; rm -rf ${root}`,
    "rm -rf .; git rm -r .",
    "git rm -r .; rm -rf .",
  ];
  await all({ mode: "full" }, "ask", lines);
  await all({ mode: "full" }, "allow", ["git stash -a", "git rm -r ."]);
});

test("what unpacks, or takes files of a commit, writes what no word names", async () => {
  const lines = ["tar xf a.tar", "unzip a.zip", "git checkout .", "git restore .", "git reset --hard", "git stash"];
  await all({ deny: ["effect:write(zzz)"], mode: "full" }, "ask", lines);
  await all({ deny: ["effect:write(zzz)"], mode: "full" }, "ask", ["git apply x.patch", "patch -p1 -i x.patch"]);
  await all({ deny: ["effect:delete(zzz)"], mode: "full" }, "ask", ["git rm --pathspec-from-file=list"]);
  await all({ mode: "full" }, "allow", lines);
  await all({ deny: ["effect:write(zzz)"], mode: "full" }, "allow", ["git checkout -b a", "git reset --soft a"]);
});

test("what git keeps of a denied file is asked about where it shows or copies it, but for a rule that spells that out", async () => {
  const lines = [
    "git commit -v",
    "git difftool -y -x cat",
    "git worktree add q",
    "git clone . q",
    "git fast-export HEAD",
  ];
  await all({ deny, mode: "full" }, "ask", [...lines, "git checkout-index -a --prefix=q/"]);
  await all({ deny: ["effect:read(zzz)"], mode: "full" }, "allow", lines);
  await all({ deny, allow: ["run_bash(git add -A)"] }, "allow", ["git add -A"]);
  await all({ deny, allow: ["run_bash(git add -f .)"] }, "deny", ["git add -f ."]);
});

test("a packer that takes all below a folder, or a list, is judged by that", async () => {
  await all({ mode: "full" }, "ask", ["gzip -r .", "zstd -qr .", "zip -rm x.zip .", "tar cf x.tar --remove-files ."]);
  const taking = ["gzip -kr app", "zip -R x.zip '*nv'"];
  await all({ mode: "full", deny }, "deny", taking);
  const lists = ["zip x.zip -@ < list", "zstd --filelist list", "git hash-object -w --stdin-paths < list"];
  await all({ mode: "full", deny }, "ask", lists);
  await all({ mode: "full" }, "allow", [...taking, ...lists, "gzip -r src"]);
});

test("the folder and the home are known by their variables", async () => {
  const lines = ['rm -rf "$PWD"', "rm -rf $PWD", `rm -rf "$\{PWD}"`, 'mv "$(pwd)" /tmp/o', "touch ~/.config/x"];
  await all({ mode: "full" }, "ask", [...lines, 'cp src/a.ts "$HOME/.config/x"']);
  await all({ mode: "full" }, "allow", ['rm -rf "$PWD/src"', 'ls "$HOME"', "echo ~"]);
});

test("a program that deletes words which the line does not show is asked about the folder", async () => {
  const lines = ["ls -a | xargs rm -rf", "find . | xargs -I{} rm -r", "rm -rf $(ls -a)"];
  await all({ mode: "full" }, "ask", lines);
  await all({ mode: "full" }, "allow", ["rm --recursive --force src", "xargs rm -rf src", "rm -f"]);
});

test("every program of a line that cannot be read is looked at, not only the first", async () => {
  const lines = ["rm -rf . $(x)", "git add $(x); rm -rf .", "tar c $(x); rm -rf .", "git; rm -rf . $(x)"];
  await all({ mode: "full" }, "ask", lines);
});

test("a subcommand counts behind options that are not known", async () => {
  const lines = ["git -C . add -f app", "git -c a=b -C app add -f ."];
  await all({ deny, mode: "full" }, "deny", lines);
  await all({ deny, mode: "full" }, "ask", [
    "git -c a=b stash -a",
    "docker -H x build app",
    "docker compose -f x.yml up -d",
  ]);
  await all({ deny, mode: "full" }, "allow", ["git -C . commit -m add", "git -C . add src", "git -C ."]);
});

test("a shell or an interpreter that takes its script from its input is asked about where a rule is about files", async () => {
  const shells = [
    "sh <<EOF\ncat x\nEOF",
    "cat <<'EOF' | bash\nls\nEOF",
    "printf 'cat x' | env sh -e",
    "date | bash -o pipefail",
  ];
  const others = [
    "python3 - <<EOF\nprint(1)\nEOF",
    "perl <<'EOF'\nprint 1\nEOF",
    "echo 1 | node",
    "echo x | timeout 5 dash -s a",
    "python3 - arg <<EOF\nprint(1)\nEOF",
  ];
  await all({ deny, mode: "full" }, "ask", [...shells, ...others]);
  await all({ mode: "full" }, "allow", [...shells, ...others]);
  await all({ deny, mode: "full" }, "deny", ["sh <<EOF\ncat app/.env\nEOF", "echo cat app/.env | sh"]);
  const known = [
    "bash x.sh | head",
    "date | sh -c 'cat src/a.ts'",
    "python3 x.py <<EOF\n1\nEOF",
    "python3 --version | head -1",
  ];
  await all({ deny, mode: "full" }, "allow", known);
});

test("the script of an interpreter is told from its options and their values", async () => {
  const fed = (lines: string): string[] => lines.split(", ").map((line) => `date | ${line}`);
  const scripts =
    `python3 -I x.py a, python3 -Im json.tool, python3 -c'print(1)', node --flag=value x, node -r ./x y.js, node -pe 1, node --test,
    bash -x x.sh, bash -euo pipefail x.sh, sh +e x.sh, zsh x, perl -I lib x.pl, perl -0777 -pe's/a/b/', ruby -rjson -ne 'puts 1', php -r'echo 1;',
    node --strange x.js y`.replace(/\s+/g, " ");
  const inputs =
    `python3 -W ignore, python3 - a, node -r ./x, perl -wI lib, ruby -I lib, php -d a=b, bash --rcfile x, bash -euo pipefail, sh +e, zsh,
    sh -s a, ts-node -P t.json, node --strange x.js`.replace(/\s+/g, " ");
  await all({ deny, mode: "full" }, "allow", fed(scripts));
  await all({ deny, mode: "full" }, "ask", fed(inputs));
});

test("a program that writes names of its own, or runs what it is given, is asked about where a rule is about files", async () => {
  const kept = { deny: ["effect:write(keep/)", "effect:read(.env)"], mode: "full" } as const;
  const writing = ["split -n 2 x", "csplit x 2", "script", "jar xf a.jar", "curl -sOJ https://a.example/x"];
  const modules = ["python3 -m zipfile -e a.zip .", "python -B -m tarfile -c a.tar app"];
  const scripts = ["sed 's/x/date/e' x", "sed -n '1e date' x", "sed -e 's,a,b,ge' x", "sed '/a/,$s/x/y/w.env' x"];
  await all(kept, "ask", [...writing, ...modules, ...scripts]);
  await all({ mode: "full" }, "allow", [...writing, ...modules, ...scripts]);
  const plain = [
    "sed -i s/the/e/g w.txt",
    "sed -e s/a/e/ e",
    "sed '/x/,/e/d' x",
    "sed s/e/w/ x",
    "python3 -m pytest app",
  ];
  await all(kept, "allow", [...plain, "curl -sO https://a.example/x", "curl --proto =https https://a.example/x"]);
});

test("an address that writes characters of a path as codes is a use of that path", async () => {
  await all({ deny, mode: "full" }, "deny", ["curl file:///%2eenv", "curl --url=file:/x/%2Eenv"]);
  await all({ deny, mode: "full" }, "allow", [
    "curl 'https://a.example/?q=%20a'",
    "date +%d%b",
    "git log --format=%25",
  ]);
});

test("a word of a program counts for what that does with files alone", async () => {
  const lines = ["cp src/a.ts x", "cp x src/a.ts", "touch src/a.ts", "chmod 600 src/a.ts", "echo x | tee src/a.ts"];
  await all({ deny: ["effect:delete(src/)"], mode: "full" }, "allow", lines);
  await all({ deny: ["effect:write(src/)"], mode: "full" }, "deny", lines.slice(1));
  await all({ deny: ["effect:read(src/)"], mode: "full" }, "deny", lines.slice(0, 1));
  await all({ deny: ["effect:delete(src/)"], mode: "full" }, "deny", [
    "mv src/a.ts x",
    "rm src/a.ts",
    "strange src/a.ts",
  ]);
});

test("a line that goes to a folder which cannot be told is asked about where a rule is about files", async () => {
  const lines = [
    "cd && cat x",
    "cd - && cat x",
    "HOME=src; cd; touch n",
    "CDPATH=src; cd app; cat x",
    "CDPATH=src cd app && cat x",
  ];
  await all({ deny, mode: "full" }, "ask", lines);
  await all({ mode: "full" }, "allow", lines);
  await all({ deny, mode: "full" }, "allow", [
    "cd src && cat a.ts",
    "cd src && npm test && cd -",
    "cd src; cd ..; cat src/a.ts",
  ]);
});

test("what stands behind `cd DIRECTORY &&` runs there alone", async () => {
  const inside = [
    "cd src && cat ../x",
    "cd ./src && ls .. | head -3",
    "cd src && cd ../app && cat ../x",
    "cd src && echo y > n && cat n",
    "cd 'src' && cat ../x 2>&1 | head -3",
    'cd src && (ls; cat ../x) && echo "$(ls ..)"',
    "cd src && grep -rn 'while; done' .. && for f in a b; do cat ../x; done",
  ];
  await all({ allow: ["effect:write(src/**)"] }, "allow", inside);
  const outside = [
    "cd src; cat ../x",
    "cd src || cat ../x",
    "cd src && cat ../../x",
    "(cd src && ls); cat ../x",
    "cd src & cat ../x",
    "cd src && ls || cat ../x",
    "cd src >../x && ls",
    "while true; do cd src && cat ../x; done",
  ];
  await all({ allow: ["effect:write(src/**)"] }, "ask", [...outside, "cd app && echo y > n", "cd src; echo y > n"]);
  await all({ deny, mode: "full" }, "deny", [
    "cd src && cat ../app/.env",
    "cd app && cat .env",
    "cd src && cat .env/../../app/.env",
  ]);
  const unread = ["cd src && f() { cd ..; } && f && cat app/.env", "cd src && alias c=cd && c .. && cat app/.env"];
  await all({ deny: ["effect:read(app/.env)"], mode: "full" }, "deny", unread);
});
