import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "@toolcrib/testing/temporaryFolder";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProgramRecord } from "../../../packages/policy/src/programs/record.ts";
import { programs } from "../../../packages/policy/src/programs/table.ts";

const folder = sharedFolder("policy-records");

beforeAll(() => {
  writeFileSync(join(folder, "a"), "1\n");
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...words], { cwd: folder, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", "a");
  git("commit", "-qm", "x");
  writeFileSync(join(folder, "a"), "2\n");
  git("stash");
});

interface Case {
  readonly words: readonly string[];
  readonly option: string;
  /** Its way to take values, as the list has it; undefined if it takes none. */
  readonly suffix: string | undefined;
}

const seen = new Set<string>();

/** Each option of what only reads, behind its program, which gives up if the option needs a value that is not there. */
function casesOf(name: string, record: ProgramRecord, words: readonly string[]): Case[] {
  const list = `${words[0]} ${record.reads?.options ?? ""}`;
  // Several subcommands of git share a parser and a list.
  const options = (seen.has(list) ? "" : (record.reads?.options ?? ""))
    .split(/\s+/)
    .filter((entry) => entry !== "" && entry !== "-#" && /^-/.test(entry));
  seen.add(list);
  const own = options.map((entry) => {
    const equals = entry.indexOf("=");
    return {
      words,
      option: equals < 0 ? entry : entry.slice(0, equals),
      suffix: equals < 0 ? undefined : entry.slice(equals + 1),
    };
  });
  const below = Object.entries(record.commands ?? {}).flatMap(([key, sub]) =>
    key.split(" ").flatMap((verb) => casesOf(name, sub, verb === "" ? words : [...words, verb])),
  );
  return [...own, ...below];
}

const shellWords = new Set("export read readonly set unset wait command type [ test pwd printf echo".split(" "));
const known = Object.entries(programs).flatMap(([key, record]) =>
  key
    .split(" ")
    .filter((name) => !shellWords.has(name))
    // Without a pattern, rg complains of that alone.
    .map((name) => ({ name, cases: casesOf(name, record, name === "rg" ? ["rg", "x", "a"] : [name]) })),
);
const isHere = (name: string): boolean => spawnSync("which", [name], { stdio: "ignore" }).status === 0;
const measured = known.filter(({ name, cases }) => cases.length > 0 && isHere(name));

const needsValue =
  /(?:needs?|requires?) (?:an? )?(?:argument|value|parameter|one|two)|requires a value|missing (?:argument|pattern)|takes? (?:one|two|a) parameter|expects? (?:an?|\d+)|must (?:be )?follow/i;
const isUnknown =
  /unrecogni[sz]ed|invalid option|unknown option|unknown switch|unknown predicate|wasn't expected|unexpected argument|unsupported SysV option|tree: Invalid argument|unknown argument/i;

/** A number is asked for in other words, the last word has a default, or the option needs a revision. */
const oddly =
  /^find -(?:[ug]id|links|inum)$|^git (?:branch|tag|for-each-ref) --(?:no-)?contains$|^git tag --points-at$|^git diff --merge-base$|^git (?:log|shortlog) --(?:no-walk|ancestry-path)$/;

/** The record lists the values that are let through; without one, the program has a default. */
const defaulted = /^git .+ --submodule$/;

/** The message of each program about an option that is its last word. */
function complaints(cases: readonly Case[]): string[] {
  if (cases.length > 500) return [...complaints(cases.slice(0, 500)), ...complaints(cases.slice(500))];
  const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  const script = cases
    .map(
      ({ words, option, suffix }) =>
        `timeout 2 ${[...words, suffix === "?" && option.startsWith("--") ? `${option}=1` : option].map(quote).join(" ")} 2>&1 >/dev/null </dev/null; printf '\\0'`,
    )
    .join("\n");
  const env = { PATH: process.env.PATH, LC_ALL: "C", HOME: folder, GIT_PAGER: "cat" };
  return execFileSync("bash", ["-c", script], {
    cwd: folder,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1e8,
  })
    .split("\0")
    .slice(0, cases.length);
}

describe("each option of a record is one of the program, with as many values as the record says", () => {
  test.each(measured)("$name", ({ cases }) => {
    const said = complaints(cases);
    const wrong = cases.flatMap(({ words, option, suffix }, at) => {
      const text = said[at] ?? "";
      const line = [...words, option].join(" ");
      if (oddly.test(line)) return [];
      if (isUnknown.test(text)) return [`${line}: ${text.slice(0, 200)}`];
      const takes = suffix !== undefined && suffix !== "?" && !defaulted.test(line);
      return takes === needsValue.test(text)
        ? []
        : [`${line}: takes ${takes ? "a value" : "none"}, but it said ${text.slice(0, 200)}`];
    });
    expect(wrong).toEqual([]);
  });
});

test("most programs of the records are here", () => {
  const missing = known.filter(({ name, cases }) => cases.length > 0 && !isHere(name)).map(({ name }) => name);
  console.log(
    `options run for real: ${measured.reduce((sum, { cases }) => sum + cases.length, 0)} of ${measured.length} programs; not here: ${missing.join(" ") || "none"}`,
  );
  expect(measured.length).toBeGreaterThan(40);
});
