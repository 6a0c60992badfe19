import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { temporaryFolder, writeIn } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { createSearchTools } from "./search.ts";
import { createSearchFilesTool } from "./searchFiles.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-files");
});

function make(...files: string[]): void {
  for (const path of files) writeIn(base, path, "");
}
const find = (args: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<string> => {
  const registry = new ToolRegistry();
  registry.register(createSearchFilesTool({ cwd: base, ...options }));
  return registry.execute("search_files", args);
};

testTool(test, {
  create: () => createSearchFilesTool({ cwd: base }),
  validArgs: () => {
    make("a.txt");
    return { pattern: "*.txt" };
  },
});

test("the pack holds search_text and search_files, in this order, both read-only", () => {
  const tools = createSearchTools({ cwd: base });
  expect(tools.map((tool) => tool.name)).toEqual(["search_text", "search_files"]);
  expect(tools.every((tool) => tool.readOnly)).toBe(true);
});

describe("files", () => {
  test("are listed one a line, sorted, relative to the working directory", async () => {
    make("b/x.ts", "a.ts", "b.ts", "c.js");
    expect(await find({ pattern: "**/*.ts" })).toBe("a.ts\nb.ts\nb/x.ts");
    expect(await find({ pattern: "*.ts" })).toBe("a.ts\nb.ts");
    expect(await find({ pattern: "./b/*" })).toBe("b/x.ts");
    expect(await find({ pattern: "*.ts", cwd: "b" })).toBe("b/x.ts");
  });

  test("are found by an escaped name, also where the pattern begins with the escape", async () => {
    make("[x].ts", "x.ts");
    expect(await find({ pattern: "\\[x\\].ts" })).toBe("[x].ts");
  });

  test("with a dot are found, ignored ones and .git are not", async () => {
    make(".env", ".git/HEAD", "out/x", "y");
    writeFileSync(join(base, ".gitignore"), "out/");
    expect(await find({ pattern: "**" })).toBe(".env\n.gitignore\ny");
  });

  test("beyond max_results are counted", async () => {
    make(...Array.from({ length: 1001 }, (_, i) => `f${i}`));
    const lines = (await find({ pattern: "*" })).split("\n");
    expect(lines.slice(0, 1000)).toEqual(
      Array.from({ length: 1001 }, (_, i) => `f${i}`)
        .sort()
        .slice(0, 1000),
    );
    expect(lines.at(-1)).toBe("[truncated: shown 1000 of 1001 files; pass max_results=1001 to continue]");
    expect((await find({ pattern: "*", max_results: 1001 })).split("\n")).toHaveLength(1001);
  });

  test("beyond maxReplyBytes are counted, and the reply holds whole paths", async () => {
    make(...Array.from({ length: 200 }, (_, i) => `d/file${100 + i}`));
    const [body = "", notice] = (await find({ pattern: "**" }, { maxReplyBytes: 1000 })).split("\n\n");
    expect(notice).toBe("[truncated: shown 100 of 200 files]");
    expect(body.split("\n")).toHaveLength(100);
    expect(await find({ pattern: "**" }, { maxReplyBytes: 3 })).toBe(
      "d/f\n\n[truncated: shown 3 of 9 bytes of the first line]",
    );
  });

  test("are reported in words when none is found", async () => {
    make("d/a.ts");
    expect(await find({ pattern: "*.ts" })).toBe("No files match *.ts; use **/*.ts to look at any depth");
    expect(await find({ pattern: "x/*.ts" })).toBe("No files match x/*.ts");
    make("x/y/z");
    expect(await find({ pattern: "x" })).toBe("No files match x: it is a directory; use x/**");
    expect(await find({ pattern: "y/", cwd: "x" })).toBe("No files match y/: it is a directory; use y/**");
  });

  test("whose first path does not fit are no data: a part of a name is none", async () => {
    make("a-long-name");
    const tool = createSearchFilesTool({ cwd: base, maxReplyBytes: 5 });
    expect(await tool.execute({ pattern: "*" })).toMatchObject({ data: { files: [], total: 1 } });
  });

  test("whose names hold control characters are printed as a JSON string", async () => {
    make("a\tb/c");
    expect(await find({ pattern: "**" })).toBe('"a\\tb/c"');
  });
});

describe("a pattern", () => {
  test("with a brace that is never closed is refused, with an escaped brace it is not", async () => {
    make("a.{md", "b[{]c");
    expect(await find({ pattern: "*.{md,json" })).toMatch(
      /^Error executing search_files: Invalid arguments: pattern: a \{ is never closed; write \{a,b\}, or \\\{ for the character/,
    );
    expect(await find({ pattern: "*.\\{md" })).toBe("a.{md");
    expect(await find({ pattern: "a.[{]md" })).toBe("a.{md");
  });

  test.each(["../*", "/etc/*", "a/../../*", "!*.ts"])(
    "that would leave its directory is refused: %s",
    async (pattern) => {
      expect(await find({ pattern })).toMatch(/^Error executing search_files: Invalid arguments: pattern: /);
    },
  );

  test("finds nothing outside the roots or through a link", async () => {
    make("in/a", "out/b");
    symlinkSync("../out", join(base, "in/link"));
    const inside = { cwd: join(base, "in"), root: join(base, "in") };
    expect(await find({ pattern: "{link,..}/**" }, inside)).toMatch(/^No files match/);
    expect(await find({ pattern: "**" }, inside)).toBe("a");
    expect(await find({ pattern: "*", cwd: "link" }, inside)).toMatch(/Permission denied/);
  });
});

test.each([
  [{ rot: "/tmp" }, /createSearchTools: unknown option "rot"; did you mean "root"\?/],
  [{ root: undefined }, /root must be the path of a directory/],
  [null, /options must be a plain object/],
  ["/tmp", /options must be a plain object/],
  [{ maxReplyBytes: 0 }, /maxReplyBytes must be a number of bytes/],
  [{ matchLimitMs: -1 }, /matchLimitMs must be a number of milliseconds above 0/],
  [{ searchMemory: "67108864" }, /searchMemory must be 0, or a number of bytes/],
  [{ searchMemory: [2 ** 26] }, /searchMemory must be 0, or a number of bytes/],
  [{ searchMemory: 2n ** 26n }, /searchMemory must be 0, or a number of bytes/],
])("options that cannot be understood throw: %#", (options, message) => {
  expect(() => createSearchTools(options as never)).toThrow(message);
});

test("a cwd that is missing, or is a file, is an error that names it", async () => {
  make("f");
  expect(await find({ pattern: "*", cwd: "gone" })).toMatch(/Path not found: gone/);
  expect(await find({ pattern: "*", cwd: "f" })).toMatch(/cwd: f is a file; pass a directory/);
});
