import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createSearchTextTool } from "./searchText.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-text");
});

function make(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) writeIn(base, path, content);
}
const search = (args: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<string> => {
  const registry = new ToolRegistry();
  registry.register(createSearchTextTool({ cwd: base, ...options }));
  return registry.execute("search_text", { paths: ["."], ...args });
};

testTool(test, {
  create: () => createSearchTextTool({ cwd: base }),
  validArgs: () => {
    make({ "a.txt": "one\ntwo\n" });
    return { query: "two", paths: ["."] };
  },
});

describe("matches", () => {
  test("are listed one a line as path:line:text, in the order of the paths", async () => {
    make({ "b.txt": "x foo\nbar\n", "a/c.txt": "bar\nfoo(y)" });
    expect(await search({ query: "foo" })).toBe("a/c.txt:2:foo(y)\nb.txt:1:x foo");
  });

  test("are those of a literal by default, and of a regular expression with regex", async () => {
    make({ a: "a.c\nabc\n" });
    expect(await search({ query: "a.c" })).toBe("a:1:a.c");
    expect(await search({ query: "a.c", regex: true })).toBe("a:1:a.c\na:2:abc");
    expect(await search({ query: "A.C", case_sensitive: false })).toBe("a:1:a.c");
  });

  test("are found in dotfiles, not in .git, ignored, binary or linked files", async () => {
    make({ ".env": "foo", ".git/x": "foo", ".gitignore": "out", "out/x": "foo", bin: "foo\0", real: "foo" });
    symlinkSync("real", join(base, "link"));
    expect(await search({ query: "foo" })).toBe(".env:1:foo\nreal:1:foo");
  });

  test("are found in a path that the call names, even if it is ignored", async () => {
    make({ ".gitignore": "out\n", "out/x": "foo", "y.log": "foo" });
    expect(await search({ query: "foo", paths: ["out"] })).toBe("out/x:1:foo");
    expect(await search({ query: "foo", paths: ["out/x"] })).toBe("out/x:1:foo");
  });

  test("appear once where the paths overlap", async () => {
    make({ "d/x": "foo" });
    expect(await search({ query: "foo", paths: ["d", ".", "d/x", "d/../d"] })).toBe("d/x:1:foo");
  });

  test("can be limited to files by a glob, relative to the path or to the working directory", async () => {
    make({ "s/a.ts": "foo", "s/b.js": "foo", "s/t/c.ts": "foo" });
    expect(await search({ query: "foo", include: "*.ts" })).toBe("s/a.ts:1:foo\ns/t/c.ts:1:foo");
    expect(await search({ query: "foo", include: "s/*.ts", paths: ["s"] })).toBe("s/a.ts:1:foo");
    expect(await search({ query: "foo", include: "./s/*.ts", paths: ["s"] })).toBe("s/a.ts:1:foo");
    expect(await search({ query: "foo", include: "t/*", paths: ["s"] })).toBe("s/t/c.ts:1:foo");
    expect(await search({ query: "foo", include: "!*.ts" })).toBe("s/b.js:1:foo");
    expect(await search({ query: "foo", include: "/*.ts" })).toMatch(/^No matches/);
    expect(await search({ query: "foo", include: "/*.ts", paths: ["s"] })).toBe("s/a.ts:1:foo");
  });

  test("of CRLF, BOM and UTF-16 files are shown without CR and byte order mark", async () => {
    make({ crlf: "a foo\r\nb\r\n", bom: "\ufefffoo\n", wide: Buffer.from("\ufefffoo é\nx", "utf16le") });
    expect(await search({ query: "foo" })).toBe("bom:1:foo\ncrlf:1:a foo\nwide:1:foo é");
    expect(await search({ query: "^foo|foo$", regex: true })).toBe("bom:1:foo\ncrlf:1:a foo\nwide:1:foo é");
  });

  test("in names with control characters are printed as a JSON string", async () => {
    make({ "a\nb/c": "foo" });
    expect(await search({ query: "foo" })).toBe('"a\\nb/c":1:foo');
  });

  test("outside the working directory have absolute paths", async () => {
    make({ "w/x": "", "o/x": "foo" });
    expect(await search({ query: "foo", paths: ["../o"] }, { cwd: join(base, "w") })).toBe(`${base}/o/x:1:foo`);
  });
});

describe("mode", () => {
  test("lines, files and count show matches, paths and how many lines match in each", async () => {
    make({ "a/x": "foo\nbar\nfoo foo\n", b: "foo", c: "bar", bin: "foo\0" });
    expect(await search({ query: "foo", mode: "lines" })).toBe("a/x:1:foo\na/x:3:foo foo\nb:1:foo");
    for (const regex of [false, true]) {
      expect(await search({ query: "foo", mode: "files", regex, context: 3 })).toBe("a/x\nb");
      expect(await search({ query: "foo", mode: "count", regex })).toBe("a/x:2\nb:1");
    }
    expect(await search({ query: "foo", mode: "files", max_results: 1 })).toBe(
      "a/x\n\n[truncated: shown 1 files, there is more; pass max_results=4 to continue]",
    );
    expect(await search({ query: "none", mode: "count" })).toBe("No matches for none");
    expect(await search({ query: "foo", mode: "names" })).toMatch(/Invalid arguments: mode: /);
  });
});

test.each([
  [1, "a-1-0\na:2:1 hit\na-3-2\n--\na-6-5\na:7:6 hit\na:8:7 hit\n--\nb-1-6\nb:2:hit\nb-3-8"],
  [2, "a-1-0\na:2:1 hit\na-3-2\na-4-3\na-5-4\na-6-5\na:7:6 hit\na:8:7 hit\n--\nb-1-6\nb:2:hit\nb-3-8\nb-4-9"],
])("context is written the way grep writes it: %i", async (context, expected) => {
  make({ a: "0\n1 hit\n2\n3\n4\n5\n6 hit\n7 hit\n", b: "6\r\nhit\r\n8\r\n9\r\n10" });
  expect(await search({ query: "hit", context })).toBe(expected);
  expect(await search({ query: "h.t", regex: true, context })).toBe(expected);
});

describe("a result that is too large", () => {
  test("is cut at max_results, with a notice that counts exactly", async () => {
    make({ a: "foo\n".repeat(300), b: "foo\n".repeat(200) });
    expect((await search({ query: "foo" })).split("\n")).toHaveLength(500);
    const cut = (await search({ query: "foo", max_results: 499 })).split("\n");
    expect(cut).toHaveLength(501);
    expect(cut.at(-1)).toMatch(/^\[truncated: shown 499 matches, there is more; pass max_results=\d+ to continue\]$/);
  });

  test("is never longer than maxReplyBytes, 50 KB by default: whole lines, then the notice", async () => {
    make(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d/f${1000 + i}`, `${"é foo line\n".repeat(50)}`])));
    for (const [args, options, limit] of [
      [{}, {}, 50 * 1024],
      [{ context: 20 }, {}, 50 * 1024],
      [{ context: 1e9 }, {}, 50 * 1024],
      [{ regex: true, query: "fo+", max_results: 1e6 }, {}, 50 * 1024],
      [{ max_results: 1e6, context: 3 }, { maxReplyBytes: 3000 }, 3000],
      [{ max_results: 1e6, mode: "files" }, { maxReplyBytes: 500 }, 500],
      [{ max_results: 1e6, mode: "count" }, { maxReplyBytes: 500 }, 500],
    ] as const) {
      const reply = await search({ query: "foo", max_results: 10_000, ...args }, options);
      const [body = "", notice] = reply.split("\n\n");
      expect(notice).toMatch(/^\[truncated: shown [1-9]\d* (matches|files), there is more\]$/);
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(limit);
      expect(Buffer.byteLength(body)).toBeGreaterThan(limit - 1000);
      const line = "mode" in args ? /^d\/f\d+(:50)?$/ : /^(d\/f\d+([:-])\d+\2é foo line|--)$/;
      for (const one of body.split("\n")) expect(one).toMatch(line);
    }
    expect((await search({ query: "foo", max_results: 1e6 }, { maxReplyBytes: Infinity })).split("\n")).toHaveLength(
      15_000,
    );
  });

  test("is not cut if it fits exactly", async () => {
    make({ a: "foo\nfoo\n" });
    expect(await search({ query: "foo" }, { maxReplyBytes: 15 })).toBe("a:1:foo\na:2:foo");
    expect(await search({ query: "foo" }, { maxReplyBytes: 14 })).toBe(
      "a:1:foo\n\n[truncated: shown 1 matches, there is more]",
    );
    expect(await search({ query: "foo" }, { maxReplyBytes: 5 })).toBe(
      "a:1:f\n\n[truncated: shown 5 of 7 bytes of the first line]",
    );
  });

  test("with much context still shows the match itself", async () => {
    make({ a: `${"before\n".repeat(20_000)}foo\n${"after\n".repeat(20_000)}` });
    const reply = await search({ query: "foo", context: 1e6 });
    expect(reply).toContain("\na:20001:foo\na-20002-after\n");
    expect(reply).toMatch(/\n\n\[truncated: shown 1 matches, there is more\]$/);
    expect(reply.length).toBeLessThan(51 * 1024);
  });

  test("of missing paths names five of them", async () => {
    make({ a: "foo" });
    const paths = ["a", ...Array.from({ length: 300 }, (_, i) => `gone${i}`)];
    const reply = await search({ query: "foo", paths });
    expect(reply.split("\n")).toHaveLength(8);
    expect(reply).toMatch(/\n\[and 295 more paths were not found\]$/);
  });

  test("keeps the same matches, however many threads search", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 600 }, (_, i) => [`d${i % 20}/f${String(i).padStart(4, "0")}`, "x\nfoo\n"]),
    );
    make(files);
    const all = (await search({ query: "foo", max_results: 5000 })).split("\n");
    expect(all).toEqual(
      Object.keys(files)
        .sort()
        .map((path) => `${path}:2:foo`),
    );
    const cut = (await search({ query: "fo+", regex: true, max_results: 500 })).split("\n");
    expect(cut.slice(0, 500)).toEqual(all.slice(0, 500));
  });

  test("of a line is cut around the match, at whole characters", async () => {
    make({ long: `${"é".repeat(600_000)}needle${"😀".repeat(1000)}\n`, short: "needle" });
    for (const args of [{ query: "needle" }, { query: "n[e]edle", regex: true }]) {
      const [long = "", short] = (await search(args)).split("\n");
      expect(long).toMatch(/^long:1:…é+needle(😀)+…$/u);
      expect(long.length).toBeLessThan(500);
      expect(short).toBe("short:1:needle");
    }
  });

  test("for one buffer is searched to the end, with the right line numbers", async () => {
    const line = `${"x".repeat(999)}\n`;
    make({ big: `needle\n${line.repeat(34_000)}needle\n${line}needle` });
    expect(await search({ query: "needle" })).toBe("big:1:needle\nbig:34002:needle\nbig:34004:needle");
    expect(await search({ query: "n.edle", regex: true, mode: "count" })).toBe("big:3");
  });

  test("from a sparse file of a terabyte is skipped: its hole is too long", async () => {
    make({ sparse: "foo" });
    truncateSync(join(base, "sparse"), 2 ** 40);
    expect(await search({ query: "foo" })).toBe("No matches for foo\n\n[left out: 1 binary file that may match]");
  });
});

describe("what cannot be searched", () => {
  test("is reported in words when nothing matches", async () => {
    make({ a: "x" });
    expect(await search({ query: "foo" })).toBe("No matches for foo");
  });

  test("is a binary file: skipped on a walk, reported if the call names it", async () => {
    make({ bin: "foo\0", other: "bar\0" });
    expect(await search({ query: "foo" })).toBe("No matches for foo\n\n[left out: 1 binary file that may match]");
    expect(await search({ query: "foo", paths: ["bin", "other"] })).toBe(
      "No matches for foo\n\n[could not read bin (a binary file)]",
    );
  });

  test("is reported next to the matches of other paths, and is an error alone", async () => {
    make({ a: "foo" });
    expect(await search({ query: "foo", paths: ["a", "gone"] })).toBe(
      "a:1:foo\n\n[Path not found: gone; check the path]",
    );
    expect(await search({ query: "foo", paths: ["gone"] })).toBe(
      "Error executing search_text: Path not found: gone; check the path",
    );
  });

  test("is told with what is there", async () => {
    make({ "src/config.ts": "foo" });
    expect(await search({ query: "foo", paths: ["src/config.js"] })).toMatch(
      /Path not found: src\/config.js; there is src\/config.ts$/,
    );
    expect(await search({ query: "foo", paths: ["scr/config.ts"] })).toMatch(/; there is no scr, but src$/);
  });

  test("is a glob among the paths: the error names the argument for globs", async () => {
    expect(await search({ query: "foo", paths: ["*.ts"] })).toMatch(
      /Path not found: \*\.ts; pass the glob as include$/,
    );
  });

  test("is reported with the include glob when nothing matches", async () => {
    make({ a: "foo" });
    expect(await search({ query: "foo", include: "*.ts,*.js" })).toBe(
      "No matches for foo in files that match *.ts,*.js; several globs are written *.{ts,js}",
    );
    expect(await search({ query: "foo", include: "*.{ts,js" })).toMatch(
      /Invalid arguments: include: a \{ is never closed; write \{a,b\}, or \\\{ for the character itself$/,
    );
    expect(await search({ query: "foo", include: "" })).toMatch(/Invalid arguments: include: must have a length/);
  });

  test("as a query is refused with the reason", async () => {
    expect(await search({ query: "(", regex: true })).toMatch(/Invalid arguments: query: .*Unterminated group/);
    expect(await search({ query: "foo[\\s\\S]*nowhere", regex: true })).toMatch(/; each line is matched alone$/);
    expect(await search({ query: "foo.*nowhere", regex: true })).not.toMatch(/alone/);
    expect(await search({ query: "a\nb" })).toMatch(/Invalid arguments: query: a line never contains a line break/);
    expect(await search({ query: "" })).toMatch(/Invalid arguments: query/);
  });

  test("is a FIFO or a socket: it is never opened, and refused if the call names it", async () => {
    execFileSync("mkfifo", [join(base, "fifo")]);
    const server = createServer().listen(join(base, "socket"));
    try {
      make({ a: "foo" });
      expect(await search({ query: "foo" })).toBe("a:1:foo");
      expect(await search({ query: "foo", paths: ["fifo"] })).toMatch(/Not a regular file or directory: fifo/);
      expect(await search({ query: "foo", paths: ["socket"] })).toMatch(/Not a regular file or directory: socket/);
      expect(await search({ query: "foo", paths: ["/dev/zero"] })).toMatch(/Not a regular file or directory/);
    } finally {
      server.close();
    }
  });

  test("is outside the roots, whatever the path", async () => {
    make({ "in/a": "foo", "out/b": "foo" });
    symlinkSync("../out", join(base, "in/link"));
    for (const path of ["../out", "link", "link/b", join(base, "out"), "/"]) {
      const answer = await search(
        { query: "foo", paths: ["a", path] },
        { cwd: join(base, "in"), root: join(base, "in") },
      );
      expect(answer).toMatch(/Permission denied/);
    }
    expect(await search({ query: "foo" }, { cwd: join(base, "in"), root: join(base, "in") })).toBe("a:1:foo");
  });
});
