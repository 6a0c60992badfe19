import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../src/temporaryFolder.ts";
import { suiteSeed } from "../random.ts";
import { compareRules, compareTree, type Peers, type Rules, type Search, type Tree } from "./comparePeers.ts";
import { ripgrepProgram } from "./ripgrepProgram.ts";

/**
 * The answers of ripgrep and git. `npm test` compares ours with recorded answers; here both are asked anew about the same cases, and about
 * others. TOOLCRIB_RECORD=1 draws the cases anew and writes their answers down.
 */
const recorded = new URL("../../../packages/tools-search/fixtures/peers.json", import.meta.url);
const rounds = Number(process.env.TOOLCRIB_ROUNDS) || 3;
const rg = ripgrepProgram();

const pick = (...values: string[]) => fc.constantFrom(...values);
const joined = (part: fc.Arbitrary<string>, maxLength: number, between = "", minLength = 1) =>
  fc.array(part, { minLength, maxLength }).map((parts) => parts.join(between));

const plainPiece = pick(..."a b ab * ** *** ? / / . [ab] [!a] a*b t".split(" "), " ");
const oddPiece = pick(
  ...["\\*", "\\a", "\\ ", "\\/", "\\", "!", "#", "\t", "\r", "{a,b}", "é", "-", "[", "]", "[^a]", "[!b-a]", "[b-a]"],
  ...[
    "[]a]",
    "[!]a]",
    "[a-]",
    "[-a]",
    "[\\]a]",
    "[a-\\b]",
    "[/]",
    "[!/]",
    "[a/b]",
    "[é]",
    "[[:alpha:]]",
    "[![:digit:]]",
  ],
  ...["[[:space:]]", "[[:foo:]]", "[[:ALPHA:]]", "[[:alpha]", "[[:alpha:]-z]", "[[:]"],
);
const rule = joined(fc.oneof({ arbitrary: plainPiece, weight: 3 }, { arbitrary: oddPiece, weight: 1 }), 6);
const name = pick("a", "b", "ab", "a.b", ".a", "aab", "*", "a b", "é", "aé", "à", "t", "a ", "[", "\\", "-");
const ruleCase: fc.Arbitrary<Rules> = fc.record({
  rules: joined(rule, 5, "\n", 0),
  asked: fc.uniqueArray(
    joined(name, 4, "/").map((path) => `t/${path}`),
    { minLength: 1, maxLength: 8 },
  ),
});
/** Rules that were once read in another way than git's. */
const oddRules: Rules[] = Object.entries({
  ...{ "***/[!a]": ["a"], "**/***/a": ["a", "b/a"], "t**/a": ["a", "b/a"], "/t/a**/b": ["ab", "ac/b", "a/b"] },
  ...{ "**\\/a": ["a", "b/a"], "[b-a]": ["a", "b"], "[[:space:]]": ["\v", "\u00a0", " "], "*[[:space:]]": ["à"] },
  ...{ "[[:ALPHA:]]": ["a"], "[[:]": ["[", ":"] },
}).map(([rules, paths]) => ({ rules, asked: paths.map((path) => `t/${path}`) }));

const filePath = joined(pick("a", "b.js", "c.log", ".hid", "e f", "ü", "build", "A"), 4, "/");
const fileRule = pick(
  ...["a", "/a", "*.log", "!c.log", "build/", "b/*", "**/b.js", "a/**", ".hid", "!a", "*", "!*/", "?", "[ab]"],
  ...["e\\ f", "# x", "/b/a", "a/**/b.js"],
);
const word = pick(..."foo Foo bar x é 日本 ( . foobar 1 42 ſ K".split(" "), " ", "  ", "\t");
const contentOf = (...kinds: string[]) =>
  fc
    .tuple(joined(joined(word, 6, "", 0), 8, "\n", 0), pick("\n", "\r\n"), pick("", "", "\ufeff"), pick(...kinds))
    .map(([lines, ending, mark, kind]) => {
      const text = lines.replaceAll("\n", ending);
      if (kind === "utf16le") return Buffer.from(`\ufeff${text}`, kind).toString("latin1");
      if (kind === "binary") return `${Buffer.from(text).toString("latin1")}\0\xff`;
      return Buffer.from(mark + text, kind as BufferEncoding).toString("latin1");
    });
// Pieces that mean the same to both engines; `\w`, `\s` and `\b` are ASCII here and Unicode there.
const piece = pick("foo", "bar", ".", "o+", "[fb]", "[^x]", "(foo|bar)", "x?", "\\.", "\\d", "é", "[a-z]{2,3}", "4*");
// `^` and `$` stand where they are written by people: `$^` is an oddity of ripgrep's CRLF mode.
const expression = fc.tuple(pick("", "^"), joined(piece, 4), pick("", "$")).map((parts) => parts.join(""));
const search = (query: fc.Arbitrary<string>, regex: boolean) =>
  fc.tuple(query, fc.constant(regex), fc.boolean()) as fc.Arbitrary<Search>;
const treeOf = (content: fc.Arbitrary<string>, searches: fc.Arbitrary<Search>): fc.Arbitrary<Tree> =>
  fc.record({
    files: fc
      .tuple(
        fc.uniqueArray(fc.tuple(filePath, content), { minLength: 1, maxLength: 15, selector: ([path]) => path }),
        fc.array(fc.tuple(filePath, joined(fileRule, 4, "\n")), { maxLength: 4 }),
      )
      // No repository within the tree: rules from outside end there for git, here and in ripgrep 13, but not in ripgrep 15.
      .map(([files, ignores]) => [
        ...files,
        ...ignores.map(([path, rules]) => [path.replace(/[^/]*$/, ".gitignore"), rules] as [string, string]),
      ]),
    searches: fc.array(searches, { minLength: 3, maxLength: 3 }),
  });
const literal = search(joined(word, 3), false);
// Meant: what is not UTF-8 is a character here, and matched by no expression there.
const tree = fc.oneof(
  treeOf(contentOf("utf8", "utf8", "utf16le", "binary", "latin1"), literal),
  treeOf(contentOf("utf8", "utf8", "utf16le", "binary"), fc.oneof(literal, search(expression, true))),
);

function askGit({ rules, asked }: Rules, folder: string): Rules {
  mkdirSync(join(folder, "t"), { recursive: true });
  writeFileSync(join(folder, ".gitignore"), rules);
  const answer = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z"], {
    ...{ cwd: folder, input: asked.join("\0"), encoding: "utf8" },
  });
  return { rules, asked, ignored: answer.stdout.split("\0").filter(Boolean).sort() };
}

const common = "--hidden -g !.git --no-require-git --no-ignore-global --no-ignore-exclude --no-ignore-dot".split(" ");

function askRipgrep({ files, searches }: Tree): Tree {
  const base = temporaryFolder("peers");
  const there = files.filter(([path, content]) => {
    try {
      mkdirSync(join(base, path, ".."), { recursive: true });
      writeFileSync(join(base, path), content, "latin1");
      return true;
    } catch {
      // A file stands where a directory would have to be, or the other way round: the tree goes without.
      return false;
    }
  });
  const ask = (...args: string[]): string[] =>
    spawnSync(rg, [...args, ...common], { cwd: base, maxBuffer: 2 ** 26, encoding: "utf8" })
      .stdout.split("\n")
      .slice(0, -1);
  return {
    files: there,
    listed: ask("--files").sort(),
    searches: searches.map(([query, regex, caseSensitive]) => {
      // `$` matches before CRLF, as it does here.
      const flags = ["-n", "--crlf", ...(regex ? [] : ["-F"]), ...(caseSensitive ? [] : ["-i"]), "-e", query, "."];
      const lines = ask(...flags).map((line) => line.replace(/^\.\//, "").replace(/\r$/, ""));
      // Meant: ripgrep may show what comes before the NUL of a binary file; here such a file is skipped.
      const binary = lines.flatMap(
        (line) => /^(.*): (?:WARNING: stopped searching b|b)inary file/.exec(line)?.[1] ?? [],
      );
      return [
        query,
        regex,
        caseSensitive,
        lines.filter((line) => !binary.some((file) => line.startsWith(`${file}:`))).sort(),
      ];
    }),
  };
}

function ask(rules: readonly Rules[], trees: readonly Tree[]): Peers {
  const repository = temporaryFolder("peers-git");
  spawnSync("git", ["init", "-q", repository]);
  const version = (program: string): string =>
    spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.split("\n", 1)[0] ?? "";
  return {
    versions: [version(rg), version("git")],
    rules: rules.map((one) => askGit(one, repository)),
    trees: trees.map(askRipgrep),
  };
}

const draw = (seed: number): [Rules[], Tree[]] => [
  [...oddRules, ...fc.sample(ruleCase, { seed, numRuns: 90 })],
  fc.sample(tree, { seed, numRuns: 40 }),
];

if (process.env.TOOLCRIB_RECORD === "1") {
  test("the answers are recorded", () => {
    const { versions, rules, trees } = ask(...draw(20_261_128));
    const lines = (list: readonly unknown[]): string => list.map((one) => JSON.stringify(one)).join(",\n");
    writeFileSync(
      recorded,
      `{\n"versions": ${JSON.stringify(versions)},\n"rules": [\n${lines(rules)}\n],\n"trees": [\n${lines(trees)}\n]\n}\n`,
    );
  });
} else {
  test("ripgrep and git answer what is recorded", () => {
    const { rules, trees } = JSON.parse(readFileSync(recorded, "utf8")) as Peers;
    expect(ask(rules, trees)).toMatchObject({ rules, trees });
  });

  for (let round = 0; round < rounds; round += 1) {
    const seed = suiteSeed + round;
    test(`other cases are answered as ripgrep and git do, seed ${seed}`, async () => {
      const { rules, trees } = ask(...draw(seed));
      for (const one of rules) compareRules(one);
      for (const one of trees) await compareTree(one);
    });
  }
}
