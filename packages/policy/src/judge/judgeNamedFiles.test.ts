import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder, writeIn } from "@toolcrib/testing/temporaryFolder";
import { beforeEach, describe, expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { largeFolder, memoryFolder } from "../../../../testing/shell/largeFolder.ts";
import { createRunBashTool } from "../../../tools-bash/src/runBash.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
const put = (path: string, text = "x\n"): void => writeIn(root, path, text);

beforeEach(() => {
  root = join(temporaryFolder("policy"), "a/b");
  put("a.txt");
  put("src/b.ts");
  put("d/e/f");
  put("secrets/key");
  put("config/key");
});

const programs = "mv cp ln link install rsync scp tar unzip cat git tee npm mkdir rm".split(" ");
const allow = programs.map((program) => `run_bash(${program} *)`);

async function all(options: PolicyOptions, expected: string, commands: readonly string[]): Promise<void> {
  const policy = createPolicy({ roots: root, home: join(root, "home"), allow, ...options });
  const found: Record<string, string> = {};
  for (const command of commands)
    found[command] = (
      await policy.explain({ name: "run_bash", args: { command }, tool: createRunBashTool({ cwd: root }) })
    ).decision;
  expect(found).toEqual(Object.fromEntries(commands.map((command) => [command, expected])));
}

/** About every kind of access, and about none of the files here. */
const deny = ["effect:read(zzz)", "effect:write(zzz)", "effect:delete(zzz)"];

describe("names that a line changes, and files that it brings", () => {
  beforeEach(() => {
    put(".git/HEAD", "ref: refs/heads/main\n");
    symlinkSync("../../../x", join(root, "d/e/l"));
    mkdirSync(join(root, "d/links"));
    symlinkSync("../../x", join(root, "d/links/l"));
  });
  const moved = linesOf("judgePlaced", "open a file by a name that may be another one");
  const brought = linesOf("judgePlaced", "open what the line brings");

  test("are asked about where a rule is about how another part of the line opens files", async () => {
    for (const list of ["deny", "ask"] as const) await all({ [list]: deny }, "ask", [...moved, ...brought]);
    const read = { mode: "full", allow: [], deny: deny.slice(0, 1) } as const;
    await all(read, "ask", [
      "mv d/e/l l; head l",
      "tar xzf a.tgz; head l",
      "git stash pop; head l",
      "ln -s x y && wc < y",
    ]);
    await all(read, "allow", ["mv d/e/l l; rm l", "ln -s x y; echo a > y", "mv d/e/l l; head -3 &"]);
  });

  test("are not asked about alone, without such a rule, or where a rule spells the command out", async () => {
    await all({ deny }, "allow", linesOf("judgePlaced", "change names alone"));
    await all({ deny }, "allow", linesOf("judgePlaced", "open what the line does not bring"));
    await all({ mode: "accept-edits" }, "allow", brought);
    await all({ mode: "full", allow: [] }, "allow", [...moved, ...brought]);
    const spelled = [...allow, "run_bash(mv d/e/l l)", "run_bash(tar xzf a.tgz)"];
    await all({ deny, allow: spelled }, "allow", ["mv d/e/l l; head l", "tar xzf a.tgz; head l"]);
    await all({ deny, allow: spelled }, "ask", ["mv d/e/l m; head l"]);
  });

  test("are left to a sandbox that holds every rule about files", async () => {
    const tool = createRunBashTool({ cwd: root, root, sandbox: true, deny: ["zzz"] });
    const decide = async (options: PolicyOptions, sandboxed = tool): Promise<string> => {
      const policy = createPolicy({ roots: root, home: join(root, "home"), allow, ...options });
      return (await policy.explain({ name: "run_bash", args: { command: "mv d/e/l l; head l" }, tool: sandboxed }))
        .decision;
    };
    expect(await decide({ deny })).toBe("allow");
    expect(await decide({ deny: [...deny, "effect:write(yyy)"] })).toBe("ask");
    expect(await decide({ deny: ["effect:read(z*)"] })).toBe("ask");
    expect(await decide({ ask: deny.slice(0, 1) })).toBe("ask");
    expect(await decide({ deny, roots: [root, "/usr"] })).toBe("ask");
    const open = createRunBashTool({ cwd: root, root, sandbox: { unprotected: ["./"] }, deny: ["zzz"] });
    expect(await decide({ deny }, open)).toBe("ask");
  });
});

test("a link to a folder puts what the folder holds below its new name", async () => {
  put("hg/hgrc");
  put("x/github/workflows/a.yml");
  symlinkSync("hg", join(root, "hl"));
  symlinkSync("x/github", join(root, "gl"));
  symlinkSync("../hg", join(root, "src/up"));
  await all({}, "ask", ["mv hl .hg", "cp -P hl .hg", "cp -a hl .hg", "mv gl .github", "mv src/up .hg", "mv hl d/.hg"]);
  await all({}, "ask", ["ln -s ../hg d/.hg", "ln -s ../../hg d/e/.hg", "ln -s ../hg x/.hg", "link hl .hg"]);
  await all({}, "allow", ["mv hl other", "mv gl src", "cp -P hl d", "ln -s ../hg d/h"]);
  symlinkSync("../hg", join(root, "d/.hg"));
  await all({}, "ask", ["cp -a d/.hg out"]);
  // As package managers make them.
  for (let at = 0; at < 30; at += 1) symlinkSync("../../..", join(root, `src/l${at}`));
  await all({}, "allow", ["cp -r src out", "mv src/l1 l"]);
});

test.runIf(process.platform === "linux")(
  "a path through a folder of the process is another one for the command",
  async () => {
    put(".git/HEAD", "ref: refs/heads/main\n");
    put(".git/config");
    put(".vscode/tasks.json");
    put(".env");
    symlinkSync("../.env", join(root, "d/el"));
    symlinkSync("/etc/passwd", join(root, "d/lf"));
    symlinkSync("/proc/self/cwd", join(root, "pl"));
    symlinkSync("pl", join(root, "pl2"));
    const lines = linesOf("judgePlaced", "make a link to a folder");
    const cwd = process.cwd();
    process.chdir(root);
    try {
      const limited: PolicyOptions = { deny: ["effect:read(.env)"] };
      const modes = ["ask", "accept-edits", "full"] as const;
      await all({ allow: [] }, "ask", [...lines, "cd d; cd ../pl && cat lf"]);
      for (const mode of modes) await all({ ...limited, mode }, "ask", lines);
      await all({ mode: "read-only" }, "deny", lines);
      for (const mode of modes) await all({ mode }, "ask", lines.slice(6));
      await all({ mode: "full" }, "allow", ["cat /proc/self/status", "cat /proc/cpuinfo"]);
      const streams = [
        "echo a > /dev/stderr",
        "cat /dev/stdin < a.txt",
        "echo a | tee /dev/stderr",
        "cat /proc/self/fd/0",
      ];
      for (const options of [{}, limited]) await all({ ...options, mode: "full" }, "allow", streams);
      await all({ mode: "full" }, "ask", [
        "tee /dev/stdin < .envrc",
        "echo a > /dev/fd/0 < .envrc",
        "tee /dev/fd/3 3< .envrc",
      ]);
    } finally {
      process.chdir(cwd);
    }
  },
);

describe("a name that a line makes", () => {
  test("by an option is not covered by a wildcard", async () => {
    await all({}, "ask", linesOf("judgePlaced", "write by an option"));
    await all({ allow: ["run_bash(cp -b a.txt *)"] }, "allow", ["cp -b a.txt b"]);
    await all({}, "allow", ["cp -a src x", "mv -f a.txt b", "cp -t src a.txt", "install -m 755 a.txt b", "cp * src"]);
    put("-b", "");
    await all({}, "ask", ["cp * src"]);
  });

  test.each(["ask", "full"] as const)(
    "for what lies in a folder is judged in %s as a tool would write it",
    async (mode) => {
      put("t/.git/hooks/x");
      put("u/.envrc");
      put("w/workflows/x.yml");
      mkdirSync(join(root, ".github"));
      put("f/x.yml");
      symlinkSync("../f", join(root, "src/to"));
      const options: PolicyOptions = { mode };
      await all(options, "ask", linesOf("judgePlaced", "write by an option to a protected place"));
      await all(options, "allow", ["cp -r w x", "cp -r f/. .github", "cp -r src/. ."]);
      await all({ mode, deny: ["effect:write(src/f/)"] }, "deny", ["cp -r f src", "mv f src/", "cp -r f/. src/f"]);
      // What is there already stays.
      put("src/f/y.yml");
      await all({ mode, deny: ["effect:write(src/f/y.yml)"] }, "allow", ["cp -r f src"]);
      await all({ mode, deny: ["effect:write(f/x.yml)"] }, "deny", [
        "cp -r w/workflows/. f",
        "cp -r w/workflows/. src/to",
      ]);
      await all({ mode, allow: [...allow, "effect:write(.github/workflows)"] }, "allow", ["cp -r w/workflows .github"]);
    },
  );

  test("that is denied keeps what is moved or copied from being read by it", async () => {
    const deny = ["effect:read(.env)", "effect:read(secrets/)", "effect:read(config/key)"];
    put(".env");
    put("d/.env");
    for (const mode of ["ask", "full"] as const) {
      await all({ mode, deny }, "deny", linesOf("judgePlaced", "read a denied file by its new name"));
      await all({ mode, deny }, "allow", ["mv src x", "cp -r src x"]);
    }
    await all({ ask: ["effect:read(config/key)"] }, "ask", ["mv config c"]);
    await all({ mode: "read-only" }, "deny", ["mv src x"]);
  });

  test("for more than can be looked through is asked about", async () => {
    const roots = memoryFolder();
    largeFolder(join(roots, "d/e"));
    await all({ roots: [roots, root] }, "ask", [`cp -r ${roots}/d ${roots}/x`]);
    await all({ roots: [roots, root] }, "allow", [`cp -r d ${roots}/x`]);
  });
});

test("a file is known behind as many links as a system follows", async () => {
  for (let at = 0; at < 40; at += 1) symlinkSync(at === 0 ? "a.txt" : `link${at - 1}`, join(root, `link${at}`));
  await all({ mode: "full", deny }, "allow", ["head link39"]);
});

test("a program that makes the names of what it writes is not covered, or judged by them", async () => {
  put(".envrc.gz");
  put("src/.mcp.json.xz");
  const more = ["split", "gunzip", "gzip", "xz", "zstd"].map((program) => `run_bash(${program} *)`);
  await all({ allow: more }, "ask", linesOf("judgePlaced", "make the names of what they write"));
  await all({ allow: more, deny: ["effect:write(config/key)"] }, "deny", ["gunzip -f config/key.gz"]);
  await all({ allow: more }, "allow", ["gunzip -k a.gz", "gzip -9 a.txt", "zstd -d x.zst"]);
});

test("a clone makes no hidden folder, whose name git takes from the address, by a wildcard", async () => {
  const names = [".vscode.git", ".vscode.git/", "x/.claude.git", ".github", ".git.git"];
  await all({}, "ask", [
    ...names.map((name) => `git clone https://example.org/${name}`),
    "git clone git@example.org:.husky.git",
    "git clone https://example.org/x .github",
  ]);
  await all({ mode: "full", allow: [] }, "ask", ["git clone https://example.org/.vscode.git"]);
});

test("a program that takes all below a folder takes a denied file there", async () => {
  const more = [...allow, "run_bash(zip *)", "run_bash(ag *)", "run_bash(ack *)"];
  await all(
    { allow: more, deny: ["effect:read(config/key)"] },
    "deny",
    linesOf("judgePlaced", "take a denied file with its folder"),
  );
  await all({ allow: more, deny: ["effect:read(config/key)"] }, "allow", ["tar c src", "zip -r x.zip src", "ag K src"]);
});

test("an archive and a patch name the files that they write, so a wildcard covers none", async () => {
  const more = [...allow, "run_bash(patch *)"];
  await all({ allow: more }, "ask", linesOf("judgePlaced", "write what an archive or a patch names"));
  await all({ allow: [...allow, "run_bash(tar xzf a.tgz)", "run_bash(unzip a.zip)"] }, "allow", [
    "tar czf a.tgz src",
    "tar -tf a.tgz",
    "tar xzf a.tgz",
    "unzip a.zip",
  ]);
});

test("a star that is a part of a word is the pattern of its program, and names no file", async () => {
  put("docs/x.md");
  const options = { mode: "full", allow: [], deny: ["effect:write(docs/)"] } as const;
  await all(options, "allow", ["run-s build:*", "npm run lint:*", "npx run-p 'test:*'", "foo --only=*"]);
  await all(options, "deny", ["foo *", "foo x:docs", "foo x:do*", "foo --to=docs/*", "foo --to=*/x.md"]);
});

test("variables that a line sets count for what it names, together and in any order", async () => {
  put(".env");
  const options = { mode: "full", allow: [], deny: ["effect:read(.env)", "run_bash(git push *)"] } as const;
  await all(options, "deny", [
    "a=.e; b=nv; cat $a$b",
    'b=nv; a=.e; cat "$a$b"',
    `export a=.e; cat "$\{a}nv" | wc`,
    `for x in .e; do cat $\{x}nv; done`,
    `a=.e; b=$\{a}nv; cat $b`,
    "a=x; a=.e; b=nv; b=x; cat $a$b; a=.e; b=nv; cat $a$b",
    'cat $(echo x) .e"n"v',
    "b=push; a=git; $a $b",
  ]);
  await all(options, "ask", ["a=.e; cat $a$b", "a=.x; b=nv; cat $a$b"]);
});

test("a file that comes with those of a root is not the program that its name says", async () => {
  for (const name of ["split", "script", "bin/tar", "xargs"]) put(name);
  mkdirSync(join(root, "to"));
  symlinkSync("/usr/bin/env", join(root, "to/split"));
  const options = { mode: "full", allow: [], deny: ["effect:write(keep/)", "effect:delete(keep/)"] } as const;
  await all(options, "allow", ["./split a.txt", "./script a.txt", "cd bin && ./tar xf a.tar", `${root}/split a.txt`]);
  await all(options, "ask", ["split a.txt", "to/split a.txt", "/usr/bin/split a.txt", "cd /usr/bin; ./split a.txt"]);
  await all(options, "ask", ["./missing/split a.txt", "node_modules/.bin/split a.txt"]);
  await all(options, "deny", ["./split keep/x", "./script rm -rf keep"]);
});

test("options that only print are told from those that write", async () => {
  const options = { mode: "full", allow: [], deny: ["effect:write(keep/)"] } as const;
  const listing = ["jar tf a.jar", "jar -tvf a.jar", "jar --list -f a.jar", "python3 -m zipfile -l a.zip"];
  await all(options, "allow", ["script -h", "script --version", "split --help", "tar --version", ...listing]);
  const writing = ["jar xf t.jar", "jar fx a.jar", "jar -tx a.jar", "jar @list", "jar --ext -f a.jar"];
  await all(options, "ask", ["script -h x", "split --help x", "python3 -m tarfile -e a.tar", ...writing]);
});

test("a program that keeps a file before it changes it names that, too", async () => {
  const options = { mode: "full", allow: [], deny: ["effect:write(.env)"] } as const;
  const inPlace = ["sed -inv s/a/b/ .e", "sed -Einv s/a/b/ .e", "sed --in-place=nv s/a/b/ .e", "sed -i'.*v' s/a/b/ en"];
  const copied = ["cp -bSnv x .e", "cp -b -S nv x .e", "mv --suffix=nv x .e", "ln --suffix nv -sf x .e"];
  await all(options, "deny", [...inPlace, ...copied, "perl -pinv -e 1 .e", "ruby -i'.*v' -pe 1 en"]);
  await all(options, "allow", [
    "sed -i.old s/a/b/ .e",
    "sed -i s/a/b/ a.txt",
    "cp -S .old -b x y",
    "perl -pi -e 1 a.txt",
  ]);
});

test("a quoted star names no file of the folder, but what a script may hold does", async () => {
  put("docs/x.md");
  put(".env");
  const options = { mode: "full", allow: [], deny: ["effect:write(docs/)", "effect:read(.env)"] } as const;
  await all(options, "allow", ["foo '*'", "foo --only='.e*'", 'foo "do*/x.md" .e\\*', "kubectl proxy --hosts '.*'"]);
  await all(options, "deny", ["foo .e*", "foo 'cat .e*'", 'foo "x>do*/x.md"', "sh -c 'foo .e*'", "env foo .e*"]);
});
