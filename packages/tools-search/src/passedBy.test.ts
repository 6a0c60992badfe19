import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import type { SearchOptions } from "./options.ts";
import { createSearchTools } from "./search.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("passed-by");
});

function make(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) writeIn(base, path, content);
}
const registry = (options: SearchOptions = {}) => new ToolRegistry(createSearchTools({ cwd: base, ...options }));
const search = (args: Record<string, unknown>, options?: SearchOptions): Promise<string> =>
  registry(options).execute("search_text", { query: "foo", paths: ["."], ...args });
const find = (args: Record<string, unknown>, options?: SearchOptions): Promise<string> =>
  registry(options).execute("search_files", args);

describe("no bare No matches over what was passed by", () => {
  const hole = "\0".repeat(5000);

  test.each<[string, string, string]>([
    ["at its head", `${hole}foo 1\nbar\nfoo 2\n`, "log:1:foo 1\nlog:3:foo 2"],
    ["in its middle", `foo 1\nb${hole}foo 2\nfoo 3\n`, "log:1:foo 1\nlog:2:foo 2\nlog:3:foo 3"],
    ["at its end", `foo 1\nfoo 2\n${hole}`, "log:1:foo 1\nlog:2:foo 2"],
    ["beyond ASCII", `é\n${hole}foo é\n`, "log:2:foo é"],
    [
      "in a file that is read in windows",
      `foo 0\n${"x".repeat(99)}\n${"\0".repeat(2 ** 24 + 5)}foo 1\n`,
      "log:1:foo 0\nlog:3:foo 1",
    ],
  ])("a text with a hole of NULs %s is searched on both sides, and the hole is noted", async (_, log, found) => {
    make({ log });
    const bytes = log.lastIndexOf("\0") - log.indexOf("\0") + 1;
    const noted = `${found}\n\n[left out: a hole of ${bytes} NUL bytes in log]`;
    expect(await search({})).toBe(noted);
    expect(await search({ query: "^foo", regex: true })).toBe(noted);
    expect(await search({ query: "fo{2}", regex: true, paths: ["log"] })).toBe(noted);
    expect(await search({ mode: "count" })).toBe(
      `log:${found.split("\n").length}\n\n[left out: a hole of ${bytes} NUL bytes in log]`,
    );
  });

  test.each([
    ["two holes", `foo\n${hole}\nfoo\n${hole}`],
    ["a NUL here and there", "foo\0foo\n"],
    ["bytes that are no text", Buffer.concat([Buffer.from(`foo\n${hole}`), Buffer.from([0xff, 0xfe])])],
  ])("a file with %s is binary, and counted where nothing was found", async (_, bin) => {
    make({ bin, other: "bar" });
    for (const regex of [false, true])
      expect(await search({ regex })).toBe("No matches for foo\n\n[left out: 1 binary file that may match]");
    make({ also: "foo\n" });
    expect(await search({})).toBe("also:1:foo");
  });

  test("an ignored folder is named where a glob asks for it", async () => {
    make({
      ".gitignore": "vendor/\ndist\n*.log\n",
      "vendor/a.ts": "foo",
      "pkg/dist/b.ts": "foo",
      "c.ts": "foo",
      "d.log": "",
    });
    const asCwd = (folders: string): string => `[ignored, so not searched: ${folders}; to search it, pass it as cwd]`;
    expect(await find({ pattern: "vendor/**" })).toBe(`No files match vendor/**\n\n${asCwd("vendor")}`);
    expect(await find({ pattern: "**/dist/*.ts" })).toBe(`No files match **/dist/*.ts\n\n${asCwd("pkg/dist")}`);
    expect(await find({ pattern: "{vendor,pkg}/**" })).toContain(asCwd("vendor"));
    expect(await find({ pattern: "**/*.ts" })).toBe("c.ts");
    expect(await search({ include: "vendor/**" })).toBe(
      "No matches for foo in files that match vendor/**\n\n[ignored, so not searched: vendor; to search it, pass it in paths]",
    );
    expect(await search({ include: "!vendor/**" })).toBe("c.ts:1:foo");
    expect(await find({ pattern: "d.log" })).toBe(
      "No files match d.log: it is ignored by a .gitignore; search_text takes it in paths",
    );
  });

  test("what is ignored is told where nothing was found, and where it may match", async () => {
    const logs = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`pkg/${at}.log`, "foo"]));
    make({ ".gitignore": "*.log\n.env*\nmodule/\n", ".env": "foo", "module/a.ts": "foo", "b.ts": "bar", ...logs });
    const none = (include: string): string => `No matches for foo in files that match ${include}`;
    const list = "pkg/0.log, pkg/1.log, pkg/2.log, pkg/3.log";
    expect(await search({})).toBe(
      `No matches for foo\n\n[ignored, so not searched: .env, ${list}, and 4 more; to search one, pass it in paths]`,
    );
    expect(await search({ include: "*.{env,ts}" })).toBe(
      `${none("*.{env,ts}")}\n\n[ignored, so not searched: .env, module; to search one, pass it in paths]`,
    );
    expect(await search({ include: "/*.ts" })).toBe(none("/*.ts"));
    expect(await search({ query: "bar" })).toBe("b.ts:1:bar");
    expect(await find({ pattern: "*.env" })).toBe(
      "No files match *.env; use **/*.env to look at any depth\n\n[ignored, so not listed: .env]",
    );
    for (const pattern of ["**/*.log", "**/@(*.log)"])
      expect(await find({ pattern })).toBe(
        `No files match ${pattern}\n\n[ignored, so not listed: ${list}, pkg/4.log, and 2 more]\n[ignored, so not searched: module; to search it, pass it as cwd]`,
      );
    const deny = ["*.log", ".env"];
    expect(await search({}, { deny })).toBe(
      "No matches for foo\n\n[ignored, so not searched: module; to search it, pass it in paths]\n[left out: 8 denied names]",
    );
    expect(await search({ paths: [".", "pkg"], include: "0.log" })).toContain(
      "[ignored, so not searched: pkg/0.log, module;",
    );
  });

  test("what is there but not found is said for what it is, not for ignored", async () => {
    make({ "it\u2019s.md": "", "c\u00e9/a.ts": "", "real/a.ts": "", ".git/config": "", "b.ts": "", ".gitignore": "" });
    symlinkSync("real", join(base, "linked"));
    symlinkSync("b.ts", join(base, "link.ts"));
    expect(await find({ pattern: "it's.md" })).toBe(
      'No files match it\'s.md; there is "it\\u2019s.md", whose name looks the same',
    );
    expect(await find({ pattern: "ce\u0301/a.ts" })).toContain('there is "c\\u00e9/a.ts", whose name looks the same');
    expect(await find({ pattern: "a.ts", cwd: "ce\u0301" })).toMatch(/^c\u00e9\/a\.ts\n/);
    const links = "a link, and links are not followed";
    expect(await find({ pattern: "linked/a.ts" })).toBe(`No files match linked/a.ts: it is behind linked, ${links}`);
    expect(await find({ pattern: "linked" })).toBe(`No files match linked: it is ${links}`);
    expect(await find({ pattern: "link.ts" })).toBe(`No files match link.ts: it is ${links}`);
    expect(await find({ pattern: ".git/config" })).toContain("it is in .git, which is not searched");
    expect(await find({ pattern: ".git" })).toContain("it is in .git, which is not searched");
  });

  const ignoredVendor =
    /^No matches for foo\n\n\[ignored, so not searched: vendor.*; to search (it|one), pass it in paths\]$/;

  test.each(["vendor/", "vendor/*", "/vendor/**", "vendor\n!/vendor/sub/x"])(
    "a folder that is named, or lies below one that is ignored, is searched: %s",
    async (rules) => {
      make({ ".gitignore": rules, "vendor/a": "foo", "vendor/sub/b": "foo" });
      for (const name of ["vendor", "vendor/sub"]) {
        const below = name === "vendor" ? "vendor/a:1:foo\nvendor/sub/b:1:foo" : "vendor/sub/b:1:foo";
        expect(await search({ paths: [name] })).toBe(below);
        expect(await find({ pattern: "**", cwd: name })).toBe(below.replaceAll(":1:foo", ""));
        expect(await find({ pattern: "**" }, { cwd: `${base}/${name}` })).toMatch(/^(?:a\nsub\/b|b)$/);
      }
      expect(await search({})).toMatch(ignoredVendor);
    },
  );

  test("a named folder whose own rules ignore all that it holds is searched", async () => {
    make({ ".venv/.gitignore": "*\n", ".venv/lib/a": "foo", b: "bar" });
    expect(await search({ paths: [".venv"] })).toBe(".venv/lib/a:1:foo");
    expect(await search({ paths: [".venv/lib"] })).toBe(".venv/lib/a:1:foo");
    expect(await search({})).toMatch(
      /^No matches for foo\n\n\[ignored, so not searched: \.venv\/\.gitignore, \.venv\/lib;/,
    );
  });

  test("rules that show some of what they ignore go on", async () => {
    make({ ".gitignore": "*\n!*/\n!*.ts\n", "src/a.ts": "foo", "src/a.js": "foo" });
    for (const paths of [["."], ["src"]]) expect(await search({ paths })).toBe("src/a.ts:1:foo");
  });

  test("braces around one thing alone mean that thing, and a file that is called so", async () => {
    make({ "a.ts": "foo", "b.{ts}": "foo" });
    expect(await find({ pattern: "*.{ts}" })).toBe("a.ts\nb.{ts}\n\n[searched as *.ts too: {a,b} needs a comma]");
    expect(await search({ include: "*.{ts}" })).toBe("a.ts:1:foo\nb.{ts}:1:foo");
    expect(await search({ include: "*.{js}" })).toBe("No matches for foo in files that match *.{js} or *.js");
    expect(await find({ pattern: "{1..3}.ts" })).not.toContain("needs a comma");
  });

  test.each([
    ["*.js,*.jsx", "*.{js,jsx}"],
    ["*.js, src/*.md", "{**/*.js,src/*.md}"],
    ["*.js|*.md", "*.{js,md}"],
    ["*.js *.md", "*.{js,md}"],
    ["a.js,*.md", "{a.js,*.md}"],
    ["a *.md", undefined],
    ["{*.js,*.md}", undefined],
    ["a,b.md", undefined],
  ])("several globs in a row, %s, are told to be written %s", async (glob, braces) => {
    make({ "c.txt": "" });
    const hint = braces === undefined ? "" : `; several globs are written ${braces}`;
    expect(await search({ include: glob })).toBe(`No matches for foo in files that match ${glob}${hint}`);
    expect(await find({ pattern: glob })).toMatch(`No files match ${glob}${hint}`);
  });

  test("what can match only across lines is told, however the line feed is written", async () => {
    make({ a: "foo" });
    for (const query of ["a\\x0Ab", "a\\u000ab", "a\\cJb", "a\\x{a}b", "a\\u{A}b", "\\n"])
      expect(await search({ query, regex: true })).toContain("a line never contains a line break");
    expect(await search({ query: "(?s)b.*c", regex: true })).toContain("; each line is matched alone");
  });

  test("syntax of grep that is no operator here is told where nothing was found", async () => {
    make({ a: "foo" });
    expect(await search({ query: "foo\\|bar", regex: true })).toBe(
      "No matches for foo\\|bar; \\| is the character itself, and | alone is the operator",
    );
    expect(await search({ query: "/foo/i", regex: true })).toContain("the slashes around it are part of the query");
    expect(await search({ query: "a\\(b", regex: true })).toBe("No matches for a\\(b");
  });
});

test("a name that looks the same as the one given is searched, and told", async () => {
  make({ "caf\u00e9/Shot\u202fPM.txt": "foo" });
  const shown = '"caf\\u00e9/Shot\\u202fPM.txt"';
  const notice = `[the name given is not there; ${shown} looks the same, so it was used]`;
  expect(await search({ paths: ["cafe\u0301/Shot PM.txt"] })).toMatch(
    new RegExp(`:1:foo\n\n${notice.replace(/[[\]\\]/g, "\\$&")}$`),
  );
  expect(await find({ pattern: "*", cwd: "cafe\u0301" })).toContain('"caf\\u00e9" looks the same');
  const [tool] = createSearchTools({ cwd: base });
  expect(await tool?.effects?.({ query: "foo", paths: ["cafe\u0301"] })).toMatchObject([{ path: `${base}/caf\u00e9` }]);
});
