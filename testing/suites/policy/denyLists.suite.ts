import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineTool } from "@toolcrib/core";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createPathScope, isInside } from "../../../packages/kit/src/files.ts";
import { createPolicy } from "../../../packages/policy/src/policy.ts";
import { toBytePath } from "../../../packages/tools-bash/src/sandbox/bytePath.ts";
import { findDenied } from "../../../packages/tools-bash/src/sandbox/deniedPaths.ts";
import { createSearchFilesTool } from "../../../packages/tools-search/src/searchFiles.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size: 5,000 lists and trees. */
const batches = Math.ceil(Number(process.env.TOOLCRIB_ROUNDS ?? 30) / 4);
const casesInBatch = 20;
const hasGit = spawnSync("git", ["--version"]).status === 0;

const base = sharedFolder("deny-lists");

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(..."a b ab B * ** ? / / . [ab] [!a] [A-C] a*b t".split(" ")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ..."\\* \\a \\[ \\] # {a,b} é - [ ] [id] (a) [[...a]] [a-] [\\]a] [[:alpha:]]".split(" "),
      "\\ ",
    ),
  },
);
const ending = fc.constantFrom("", "", "", "/", " ", "  ", "\r", " \r", "\\ ", "\\  ", "/ ", "/\r");
const entry = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), ending)
  .map(([parts, end]) => parts.join("") + end)
  // These mean something else in one of the two: exceptions, places, and git's own folder. A rule needs balanced parentheses.
  .filter((one) => !/^[!/~\s]|^\.\/|^\.(?:[\s/]|$)/.test(one));
const list = fc.array(fc.oneof({ weight: 9, arbitrary: entry }, { weight: 1, arbitrary: fc.constant("") }), {
  minLength: 1,
  maxLength: 4,
});
const name = fc.constantFrom(
  ..."a b ab a.b aab AB B * é aé t [ [a] [ab] [id] [[...a]] (a) \\ \\a - # #a {a,b} A".split(" "),
  ...["a b", "a ", "t ", "b\r", "a  "],
);
const tree = fc.uniqueArray(
  fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/")),
  { minLength: 4, maxLength: 12 },
);

/** A list as git reads it, with each name of its patterns also written exactly: more than this nothing may deny. */
function widest(entries: readonly string[]): string[] {
  // Git takes a byte \r at the end of a line off, even behind a backslash.
  const exactly = (text: string): string => text.replace(/[\\*?[ \t]/g, "\\$&").replaceAll("\r", "[\r]");
  return entries.flatMap((given) => {
    const trimmed = given.replace(/(?<!\\)((?:\\\\)*)[ \t\r]+$/, "$1").replace(/(\\[ \t])[ \t\r]+$/, "$1");
    // With its blanks it goes on binding as it is read without git.
    return [given, trimmed, trimmed + exactly(given.slice(trimmed.length))].flatMap((text) => {
      const forms = text.split("/").map((one) => [one, exactly(one)]);
      const lines = forms.reduce<string[]>(
        (heads, form, at) => heads.flatMap((head) => form.map((one) => (at === 0 ? one : `${head}/${one}`))),
        [""],
      );
      return [...lines, ...lines.map((line) => line.replace(/^#/, "\\#"))];
    });
  });
}

function makeTree(root: string, files: readonly string[]): string[] {
  for (const file of files) {
    try {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), "");
    } catch {
      // A file is in the place of one of its folders.
    }
  }
  const made = readdirSync(root, { recursive: true, encoding: "utf8" });
  return made.filter((path) => !path.endsWith("/") && statSync(join(root, path)).isFile());
}

interface Case {
  readonly entries: readonly string[];
  readonly root: string;
  readonly files: readonly string[];
}

/** Finds the files that each reader of `deny` keeps from being read. */
async function denied({ entries, root, files }: Case): Promise<Record<string, readonly string[]>> {
  const scope = createPathScope({ root, cwd: root, deny: entries });
  const inPacks: string[] = [];
  for (const file of files) await scope.resolve(file).catch(() => inPacks.push(file));
  const policy = createPolicy({
    roots: root,
    home: base,
    mode: "full",
    deny: entries.filter((one) => one !== "").map((one) => `effect:read(${one})`),
  });
  const inPolicy: string[] = [];
  for (const file of files) {
    const effects = [{ kind: "read" as const, path: join(root, file) }];
    const tool = defineTool({
      name: "own",
      description: "x",
      parameters: { type: "object" },
      effects: () => effects,
      execute: () => "",
    });
    if ((await policy.explain({ name: "own", args: {}, tool })).decision === "deny") inPolicy.push(file);
  }
  const found = await createSearchFilesTool({ cwd: root, root, deny: entries }).execute({ pattern: "**" }, {} as never);
  const { files: shown } = (found as unknown as { data: { files: string[] } }).data;
  const listed = new Set(shown.map((path): string => (path.startsWith('"') ? JSON.parse(path) : path)));
  const masks = await findDenied(scope.denied?.rules ?? { patterns: [], roots: [root] }, [root]);
  const isMasked = (path: string): boolean => {
    const bytes = toBytePath(path);
    return masks.files.includes(bytes) || masks.directories.some((one) => isInside(one, bytes));
  };
  return {
    inPacks,
    inPolicy,
    inSearch: files.filter((file) => !listed.has(file)),
    inMasks: files.filter((file) => isMasked(join(root, file))),
  };
}

/** The files of each case that git ignores. */
function ignored(
  folder: string,
  cases: readonly Case[],
  linesOf: (one: Case) => readonly string[],
  ignoreCase: boolean,
): string[][] {
  for (const [at, one] of cases.entries()) {
    mkdirSync(join(folder, String(at)), { recursive: true });
    writeFileSync(join(folder, String(at), ".gitignore"), `${linesOf(one).join("\n")}\n`);
  }
  const asked = cases.flatMap(({ files }, at) => files.map((file) => `${at}/${file}`));
  const args = ["-c", `core.ignoreCase=${ignoreCase}`, "check-ignore", "--no-index", "--stdin", "-z"];
  const answer = spawnSync("git", args, { cwd: folder, input: asked.join("\0"), encoding: "utf8" }).stdout.split("\0");
  return cases.map((_, at) =>
    answer.filter((one) => one.startsWith(`${at}/`)).map((one) => one.slice(one.indexOf("/") + 1)),
  );
}

describe.skipIf(!hasGit)("deny in packs, policy, search and sandbox masks", () => {
  beforeAll(() => {
    for (const repository of ["git", "widest"]) execFileSync("git", ["init", "-q", join(base, repository)]);
  });

  test(`denies what git ignores, and beyond that exact names and other case: ${batches * casesInBatch} lists`, {
    timeout: 7_200_000,
  }, async () => {
    let compared = 0;
    let refused = 0;
    for (let batch = 0; batch < batches; batch += 1) {
      const cases: Case[] = [];
      for (const [entries, files] of fc.sample(fc.tuple(list, tree), casesInBatch)) {
        const root = join(base, "trees", `${batch}-${cases.length}`);
        try {
          createPathScope({ root, deny: entries });
        } catch (error) {
          // What is refused in words denies nothing in silence.
          expect(error).toBeInstanceOf(TypeError);
          refused += 1;
          continue;
        }
        mkdirSync(root, { recursive: true });
        cases.push({ entries, root, files: makeTree(root, files) });
      }
      const byGit = (repository: string, linesOf: (one: Case) => readonly string[]): string[][] => {
        const [exact = [], wide = []] = [false, true].map((ignoreCase) =>
          ignored(join(base, repository, String(batch)), cases, linesOf, ignoreCase),
        );
        return exact.map((files, at) => [...files, ...(wide[at] ?? [])]);
      };
      const least = byGit("git", ({ entries }) => entries);
      const most = byGit("widest", ({ entries }) => widest(entries));
      for (const [at, one] of cases.entries()) {
        const kept = await denied(one);
        for (const [who, files] of Object.entries(kept)) {
          const open = least[at]?.filter((file) => !files.includes(file));
          const beyond = files.filter((file) => !most[at]?.includes(file));
          expect({ who, entries: one.entries, open, beyond }).toEqual({
            who,
            entries: one.entries,
            open: [],
            beyond: [],
          });
        }
        compared += 1;
      }
    }
    console.log(`${compared} lists compared, ${refused} refused in words`);
    expect(compared).toBeGreaterThan(refused);
  });
});
