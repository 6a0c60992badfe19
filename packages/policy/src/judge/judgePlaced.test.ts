import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRunBashTool } from "../../../tools-bash/src/runBash.ts";
import { createPolicy, type PolicyOptions } from "../index.ts";

let root: string;
const put = (path: string, text = "x\n"): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

beforeEach(() => {
  root = join(realpathSync(mkdtempSync(join(tmpdir(), "policy-"))), "a/b");
  put("a.txt");
  put("src/b.ts");
  put("d/e/f");
  put("secrets/key");
  put("config/key");
});

afterEach(() => rmSync(join(root, "../.."), { recursive: true, force: true }));

const programs = [
  "mv",
  "cp",
  "ln",
  "link",
  "install",
  "rsync",
  "scp",
  "tar",
  "unzip",
  "cat",
  "git",
  "tee",
  "npm",
  "mkdir",
  "rm",
];
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

describe("a link that is moved or copied", () => {
  beforeEach(() => {
    symlinkSync("../../../x", join(root, "d/e/l"));
    mkdirSync(join(root, "d/links"));
    symlinkSync("../../x", join(root, "d/links/l"));
  });

  test("is asked about with anything else in the line that opens files by name", async () => {
    await all({}, "ask", [
      "mv d/e/l l; cat l",
      "mv d/e/l l && head -1 < l",
      "cp -P d/e/l l; head l",
      "cp -r d/links/. .; head l",
      "cp -r d/links . && echo x > links/l",
      "mv d/links .; cp a.txt links/l",
      "mv d/links .; tee links/l",
      "mv d/links/l l; cd l; npm test",
      "cd l; mv d/links/l l; npm test",
      "mv d/e/* .; head l",
      "mv ./d/e/l/ l; cat l",
      "git mv d/e/l l; head l",
      "install d/e/l l; head l",
      "rsync -a d/links/ .; head l",
      "mv d/e/l d/links/l x",
      "if true; then mv d/e/l l; fi; head l",
      "env mv d/e/l l; head l",
      "sh -c 'mv d/e/l l'; head l",
      "/bin/mv d/e/l l; head l",
      "mv d/e/l m; mv m l",
    ]);
    await all({ mode: "full", deny: ["effect:read(config/key)"] }, "ask", [
      "mv d/e/l l; head l",
      "find d -exec mv {} . \\;; head l",
    ]);
  });

  test("is not asked about alone, or where nothing forbids a file", async () => {
    await all({}, "allow", [
      "mv d/e/l l",
      "cp -r d/links links",
      "cd d && mv e/l l",
      "mv d/links x && npm test",
      "mv d/e/l l && ls",
    ]);
    await all({ mode: "full" }, "allow", ["mv d/e/l l; head l"]);
    await all({ deny: ["effect:read(config/key)"] }, "allow", ["mv d/e/l l"]);
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
  await all({}, "ask", ["cp -r d/. out", "rsync -a d/ out", "cp -a d/.hg out", "cp -r d out"]);
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
    const lines = [
      "cd d && cat /proc/self/cwd/lf",
      "cd d && cat /proc/self/cwd/el",
      "cd d && cat ../pl/el",
      "cd d && cat ../pl2/lf",
      "cat /proc/thread-self/cwd/d/lf",
      "cat /proc/self/task/1/cwd/d/lf",
      "cd .git && rm /proc/self/cwd/config",
      "cd .git && rm ../pl/config",
      "cd .vscode; cp ../src/b.ts /proc/self/cwd/z",
      "cd .vscode && echo x > /proc/self/cwd/tasks.json",
      "cd .vscode && echo x > /proc/self/c?d/tasks.json",
    ];
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

test("a link that the line makes, or files that it brings, ask about what opens files by name", async () => {
  put(".git/HEAD", "ref: refs/heads/main\n");
  symlinkSync("../../../x", join(root, "d/l"));
  await all({}, "ask", [
    "ln -s ../config/key src/l; head src/l",
    "ln -s ../x; head x",
    "ln -s ../out l; echo x > l/y",
    "(ln -sf ../out src); echo x > src/y",
    "ln ../out/y q; echo x > q",
    "ln -s . s; head s/config/key",
    "git checkout other && head src/b.ts",
    "git stash pop; head src/b.ts",
    "git stash; head src/b.ts",
    "git pull; cd src; npm test",
    "git switch other; mv d/e/f f",
    "git worktree move d b; head b/l",
  ]);
  await all({ allow: [...allow, "run_bash(tar xzf a.tgz)"] }, "ask", ["tar xzf a.tgz; head l"]);
  await all({}, "allow", [
    "ln -s ../x y",
    "git checkout -b other && npm test",
    "cd src && git pull",
    "git stash && git status",
    "git commit -m x && head a.txt",
    "git worktree move src b; head b/b.ts",
    "tar czf a.tgz src && head a.txt",
    "mv a.txt b.txt && head b.txt",
    "mkdir -p x && cp -r src x/ && head x/src/b.ts",
    "mv a.txt src/ && rm a.txt",
  ]);
});

describe("a name that a line makes", () => {
  test("by an option is not covered by a wildcard", async () => {
    await all({}, "ask", [
      "cp -S vrc -b a.txt .en",
      "cp --suffix=vrc -b a.txt .en",
      "mv --backup=simple a.txt b",
      "mv -b a.txt b",
      "cp --parents a.txt src",
      "cp -rL d x",
      "cp -s a.txt b",
      "ln -b a.txt b",
      "install -b a.txt b",
      "install -s a.txt b",
      "rsync -b --suffix=vrc a.txt .en",
    ]);
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
      await all(options, "ask", [
        "cp -r t/. .",
        "cp -r t x",
        "cp -r u/. x",
        "mv w/workflows .github",
        "cp -r w/. .github",
        "cp -rT w .github",
        "cp -rt .github w/workflows",
        "git mv w/workflows .github",
        "cp w/workflows/x.yml .github/workflows",
        "rsync -a w/ .github",
        "cp -r w/* .gith*",
        "ln -s ../f/workflows .github",
        "cd w && cp -r workflows ../.github",
      ]);
      await all(options, "allow", ["cp -r w x", "cp -r f/. .github", "cp -r src/. ."]);
      await all({ mode, deny: ["effect:write(src/f/)"] }, "deny", ["cp -r f src", "mv f src/", "cp -r f/. src/f"]);
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
      await all({ mode, deny }, "deny", [
        "mv .env a; cat a",
        "mv secrets s; cat s/key",
        "mv secrets s",
        "mv config c; cat c/key",
        "mv config c",
        "cp -r config c",
        "cp -r d x",
        "git mv config c",
        "cp -r ./* /tmp/x",
      ]);
      await all({ mode, deny }, "allow", ["mv src x", "cp -r src x"]);
    }
    await all({ ask: ["effect:read(config/key)"] }, "ask", ["mv config c"]);
    await all({ mode: "read-only" }, "deny", ["mv src x"]);
  });

  test("for a folder that the line itself changes before cannot be told", async () => {
    put("w/workflows/x.yml");
    mkdirSync(join(root, ".github"));
    mkdirSync(join(root, "g"));
    await all({ mode: "accept-edits" }, "ask", [
      "mv w/workflows g/; cp -r g/. .github",
      "mv w v; cp -r v/. .github",
      "mkdir g/workflows; cp -r g/. .github",
      "mkdir -p n/workflows; mv n .github",
      "echo x > g/workflows; cp -r g/. .github",
      "git checkout other; cp -r g/. .github",
    ]);
    await all({}, "ask", ["rsync -a example.org:x/ .", "scp -r example.org:x ."]);
    await all({}, "allow", ["scp a.txt example.org:x", "mv w v && mv a.txt b", "mv missing x"]);
  });

  test("for more than can be looked through is asked about", async () => {
    for (let at = 0; at < 5001; at += 1) writeFileSync(join(root, "d/e", String(at)), "");
    await all({}, "ask", ["cp -r d x"]);
  });
});

test("a program that makes the names of what it writes is not covered, or judged by them", async () => {
  put(".envrc.gz");
  put("src/.mcp.json.xz");
  const more = ["split", "gunzip", "gzip", "xz", "zstd"].map((program) => `run_bash(${program} *)`);
  await all({ allow: more }, "ask", [
    "split -l 1 -a 1 a.txt .envr",
    "gunzip .envrc.gz",
    "gunzip -N a.gz",
    "gunzip -S x .envrcx",
    "gunzip -r src",
    "zstd -df AGENTS.md.zst",
    "xz -d src/.mcp.json.xz",
    "gzip -d .envrc.Z",
    "gunzip .envr*",
  ]);
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
  await all({ allow: more, deny: ["effect:read(config/key)"] }, "deny", [
    "tar c .",
    "tar cf x.tar config",
    "tar cf - ./*",
    "zip -r - .",
    "ag K",
    "ack K config",
  ]);
  await all({ allow: more, deny: ["effect:read(config/key)"] }, "allow", ["tar c src", "zip -r x.zip src", "ag K src"]);
});

test("an archive and a patch name the files that they write, so a wildcard covers none", async () => {
  const more = [...allow, "run_bash(patch *)"];
  await all({ allow: more }, "ask", [
    "tar xzf a.tgz",
    "tar -xzf a.tgz",
    "tar --extract -f a.tgz",
    "tar --get -f a.tgz",
    "unzip a.zip",
    "patch -p1 -i x.patch",
    "patch -p1 < x.patch",
  ]);
  await all({ allow: [...allow, "run_bash(tar xzf a.tgz)", "run_bash(unzip a.zip)"] }, "allow", [
    "tar czf a.tgz src",
    "tar -tf a.tgz",
    "tar xzf a.tgz",
    "unzip a.zip",
  ]);
});
