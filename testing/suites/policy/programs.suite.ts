import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createPolicy } from "../../../packages/policy/src/policy.ts";
import type { ProgramRecord } from "../../../packages/policy/src/programs/record.ts";
import { programs } from "../../../packages/policy/src/programs/table.ts";
import { judgeLine } from "../../shell/judgeLine.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size: 100,000 lines. */
const lineCount = Number(process.env.TOOLCRIB_ROUNDS ?? 30) * 100;

const base = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-programs-")));
const [root, outside, logs] = [join(base, "root"), join(base, "outside"), join(base, "logs")];
const secret = "canary-of-the-environment";
afterAll(() => rmSync(base, { recursive: true, force: true }));

const needed = ["bwrap", "strace", "bash", "timeout", "git"];
const isHere = (name: string): boolean => spawnSync("which", [name], { stdio: "ignore" }).status === 0;
const missing = needed.filter((name) => !isHere(name));
const probe = spawnSync("bwrap", "--ro-bind / / --dev /dev --proc /proc strace -qq -o /dev/null true".split(" "));
const cannot =
  missing.length > 0
    ? `${missing.join(", ")} not found`
    : probe.status === 0
      ? undefined
      : "strace does not work in bubblewrap here";

/** A project that lists, links and names lead out of. */
function makeProject(): void {
  for (const folder of [join(root, "sub"), outside, logs]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(outside, "secret"), "canary\n");
  const files = {
    "a.txt": "b\na\n",
    "b.txt": "a\nc\n",
    "a.json": '{"a":1}\n',
    list: `${outside}/secret\n`,
    list0: `${outside}/secret\0`,
    "sub/c.txt": "x\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  symlinkSync(join(outside, "secret"), join(root, "link"));
  symlinkSync(outside, join(root, "linked"));
  const git = (...words: string[]) =>
    spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...words], { cwd: root, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "x");
}

interface Known {
  readonly words: readonly string[];
  readonly options: readonly string[];
}

/** The options that a program documents, those of its record, heads of them, and others by which programs write or read names. */
function optionsOf(words: readonly string[], record: ProgramRecord): string[] {
  const help = [...words, words[0] === "git" ? "-h" : "--help"];
  const { stdout, stderr } = spawnSync("timeout", ["5", ...help], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env.PATH, LC_ALL: "C" },
  });
  const documented = [...`${stdout}${stderr}`.matchAll(/(?<![\w-])--?[A-Za-z0-9][\w-]*/g)].map(([option]) => option);
  const listed = (record.reads?.options ?? "").split(/\s+/).map((entry) => entry.replace(/=.*/, ""));
  const heads = documented
    .filter((option) => option.startsWith("--") && option.length > 4)
    .map((option) => option.slice(0, -1));
  return [...new Set([...documented, ...listed, ...heads, "--output", "--files0-from", "-o", "-O", "-f"])].filter(
    (option) => option !== "" && option !== "-#",
  );
}

function knownOf(words: readonly string[], record: ProgramRecord): Known[] {
  const below = Object.entries(record.commands ?? {}).flatMap(([key, sub]) =>
    key.split(" ").flatMap((verb) => knownOf(verb === "" ? words : [...words, verb], sub)),
  );
  return record.reads === undefined ? below : [{ words, options: optionsOf(words, record) }, ...below];
}

const values = "a.txt b.txt a.json list list0 @list link linked sub 1 2 x out . .. - HEAD main %s a=b".split(" ");
const outer = [join(outside, "secret"), "../outside/secret", "linked/secret", "--output=out", "-o", "out"];

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** A line of a program with options of its own, in all ways in which they may be written. */
function lineOf({ words, options }: Known): fc.Arbitrary<string> {
  const option = fc.constantFrom(...options);
  const value = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...values) },
    { weight: 1, arbitrary: fc.constantFrom(...outer) },
  );
  const piece = fc.oneof(
    { weight: 4, arbitrary: option.map((one) => [one]) },
    { weight: 3, arbitrary: fc.tuple(option, value).map(([one, text]) => [one, text]) },
    {
      weight: 2,
      arbitrary: fc.tuple(option, value).map(([one, text]) => [`${one}${one.startsWith("--") ? "=" : ""}${text}`]),
    },
    { weight: 1, arbitrary: fc.tuple(option, option).map(([one, other]) => [`${one}${other.replace(/^-+/, "")}`]) },
    { weight: 3, arbitrary: value.map((text) => [text]) },
    { weight: 1, arbitrary: fc.tuple(option, option).map(([one, other]) => [one, other]) },
  );
  return fc
    .array(piece, { minLength: 1, maxLength: 4 })
    .map((pieces) => [...words, ...pieces.flat()].map(quote).join(" "));
}

/** Runs lines in a sandbox that shows the machine as it is and writes only to the project, and returns what they opened, wrote and started. */
async function record(lines: readonly string[]): Promise<string[]> {
  const driver = lines
    .map(
      (line, at) =>
        `timeout 3 strace -f -qq -s 300 -e trace=%file -o ${logs}/${at} ${line} </dev/null >${logs}/${at}.out 2>/dev/null`,
    )
    .join("\n");
  writeFileSync(join(logs, "driver"), driver);
  const env = {
    PATH: process.env.PATH,
    HOME: join(base, "home"),
    LC_ALL: "C.UTF-8",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    CANARY: secret,
  };
  const folders = [
    "--ro-bind",
    "/",
    "/",
    "--tmpfs",
    "/tmp",
    "--bind",
    base,
    base,
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--chdir",
    root,
  ];
  await promisify(execFile)(
    "bwrap",
    ["--unshare-net", "--unshare-pid", "--die-with-parent", "--new-session", ...folders, "bash", join(logs, "driver")],
    { env, maxBuffer: 1e8 },
  ).catch(() => {});
  return lines.flatMap((line, at) => {
    const problem = problemOf(readOr(join(logs, String(at))), readOr(join(logs, `${at}.out`)));
    return problem === undefined ? [] : [`${line}: ${problem}`];
  });
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

const writing =
  /^\d+ +(?:(?:open|openat|openat2)\(.*O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)|(?:creat|unlink|unlinkat|rename|renameat2?|mkdir|mkdirat|rmdir|symlink|symlinkat|link|linkat|truncate|chmod|fchmodat|chown|fchownat|utimensat|mknodat?)\()/;
const harmless = /"\/dev\/(?:null|tty|fd\/\d)"|"\/tmp\/|= -1 |"\/proc\//;

function problemOf(log: string, output: string): string | undefined {
  const calls = log.split("\n");
  const wrote = calls.find((call) => writing.test(call) && !harmless.test(call));
  if (wrote !== undefined) return wrote;
  const read = calls.find(
    (call) =>
      /^\d+ +open\w*\(/.test(call) &&
      call.includes("/outside") === true &&
      !call.includes("= -1") &&
      !call.includes("O_PATH"),
  );
  if (read !== undefined) return read;
  const started = calls.filter((call) => /^\d+ +execve\(.*= 0$/.test(call)).slice(1);
  // egrep is a script that runs grep.
  const other = started.find((call) => !/execve\("[^"]*\/(?:git(?:-core\/git)?|grep)"/.test(call));
  return other ?? (output.includes(secret) ? "it shows the environment" : undefined);
}

describe.skipIf(cannot !== undefined)(
  "what is allowed of a program's own options reads what it may, writes nothing and starts nothing",
  () => {
    test(`${lineCount} lines`, { timeout: 7_200_000 }, async () => {
      makeProject();
      const skipped = new Set(
        "export read readonly set unset wait command type exit return break continue shift sleep tail :".split(" "),
      );
      const known = Object.entries(programs).flatMap(([key, each]) =>
        key
          .split(" ")
          .filter((name) => !skipped.has(name) && isHere(name))
          .flatMap((name) => knownOf([name], each)),
      );
      const lines = fc.sample(fc.constantFrom(...known).chain(lineOf), lineCount);
      const policy = createPolicy({ roots: root, home: join(base, "home"), mode: "read-only" });
      const allowed: string[] = [];
      for (const line of new Set(lines))
        if ((await judgeLine(policy, line, root)).decision === "allow") allowed.push(line);
      const problems: string[] = [];
      for (let at = 0; at < allowed.length; at += 500) problems.push(...(await record(allowed.slice(at, at + 500))));
      console.log(`${lineCount} lines of ${known.length} programs and subcommands, ${allowed.length} allowed and run`);
      expect(problems).toEqual([]);
      expect(allowed.length).toBeGreaterThan(lineCount / 50);
    });
  },
);
