import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { relative } from "node:path";
import type * as Unbash from "unbash";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sharedFolders } from "../../../../testing/shell/checkLines.ts";
import { judgeLine } from "../../../../testing/shell/judgeLine.ts";

/** Counts of parsed texts and of paths looked up since the last line. */
const parsed = new Map<string, number>();
const lookedUp = new Map<string, number>();
const count = (counts: Map<string, number>, key: string): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);

vi.mock("unbash", async (importOriginal) => {
  const original = await importOriginal<typeof Unbash>();
  const parse: typeof original.parse = (text, ...rest) => {
    count(parsed, text);
    return original.parse(text, ...rest);
  };
  return { ...original, parse };
});

// Test files share a process: the modules are loaded again with this parser, and once more afterwards.
vi.resetModules();
const { createPolicy } = await import("../policy.ts");

const looks = ["lstatSync", "statSync", "readlinkSync", "readdirSync", "opendirSync", "existsSync", "accessSync"];
const waiting = ["lstat", "stat", "readlink", "readdir", "realpath", "access", "opendir"];
const restores: (() => void)[] = [];

/** Counts the paths that functions of Node's are called with. */
function watch(holder: object, names: readonly string[]): void {
  for (const name of names) {
    const original = Reflect.get(holder, name);
    const counted = (path: unknown, ...rest: unknown[]): unknown => {
      // The names in a folder are looked up once, too.
      count(lookedUp, /dir/.test(name) ? `${path} (its names)` : String(path));
      return original(path, ...rest);
    };
    // Such as `realpathSync.native`.
    Reflect.set(holder, name, Object.assign(counted, original));
    restores.push(() => Reflect.set(holder, name, original));
  }
}

beforeAll(() => {
  watch(fs.realpathSync, ["native"]);
  watch(fs, [...looks, "realpathSync"]);
  watch(fs.promises, waiting);
  syncBuiltinESMExports();
});

afterAll(() => {
  for (const restore of restores.reverse()) restore();
  syncBuiltinESMExports();
  vi.doUnmock("unbash");
  vi.resetModules();
});

const { project, home } = sharedFolders("policy-parsed-once");
const policy = () =>
  createPolicy({
    mode: "accept-edits",
    roots: project,
    cwd: project,
    home,
    allow: ["run_bash(npm test *)"],
    ask: ["effect:write(package.json)", "run_bash(git push *)"],
    deny: ["effect:read(.env)", "effect:delete(keep/)"],
  });

/** Each line, with the lines within it that a shell parses again. */
const lines: readonly (readonly [line: string, ...inner: string[]])[] = [
  ["cat a.txt"],
  ["cat a.txt b.txt | head -n 3"],
  ["rg foo src | head"],
  ["grep -rn foo src"],
  ["ls src >listing.txt"],
  ["sort <a.txt >sorted.txt"],
  ["echo x >>b.txt"],
  ["cp a.txt c.txt"],
  ["mv a.txt src/d.txt"],
  ["rm b.txt src/c.txt"],
  ["rm -rf dist"],
  ["ln -s a.txt link"],
  ["mkdir -p src/new && touch src/new/x"],
  ["cd src && cat c.txt"],
  ["cd src; cat ../a.txt; cat ../b.txt"],
  ["wc -l *.txt"],
  ["node build.js a.txt"],
  ["mytool --input=a.txt src/c.txt"],
  ["npm test src/c.txt"],
  ["sh -c 'cat a.txt'", "cat a.txt"],
  ["bash -c 'rm b.txt && cat a.txt'", "rm b.txt && cat a.txt"],
  ["timeout 5 sh -c 'npm test; cat b.txt'", "npm test; cat b.txt"],
  [`env CI=1 sh -c "sh -c 'cat a.txt'"`, "sh -c 'cat a.txt'", "cat a.txt"],
  ["find . -name '*.txt' -exec cat {} \\;"],
  ["cat a.txt | xargs rm"],
  ["for f in a.txt b.txt; do cat a.txt; done"],
  ["if test -f a.txt; then cat a.txt; else cat b.txt; fi"],
  ['echo "$(cat a.txt)" >b.txt'],
  ["git add a.txt && git commit -m x"],
  ["tar -cf all.tar src"],
  ["sed -i s/a/b/ a.txt"],
  ["diff a.txt b.txt >changes.diff"],
];

test("each line, and each line within it, is parsed once", async () => {
  for (const [line, ...inner] of lines) {
    const fresh = policy();
    parsed.clear();
    await judgeLine(fresh, line, project);
    expect(Object.fromEntries(parsed), line).toEqual(Object.fromEntries([line, ...inner].map((text) => [text, 1])));
  }
});

test("a verdict looks each path of a line up once", async () => {
  const again: Record<string, unknown> = {};
  for (const [line] of lines) {
    const fresh = policy();
    lookedUp.clear();
    await judgeLine(fresh, line, project);
    const within = [...lookedUp].filter(([path]) => path.startsWith(project));
    expect(within, line).not.toEqual([]);
    const twice = within.filter(([, times]) => times > 1).map(([path, times]) => [relative(project, path), times]);
    if (twice.length > 0) again[line] = Object.fromEntries(twice);
  }
  expect(again).toEqual({});
});
