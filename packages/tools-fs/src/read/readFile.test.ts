import { isUtf8 } from "node:buffer";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { countInvalidUtf8 } from "./invalidUtf8.ts";
import { createReadFileTool } from "./readFile.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("read");
});

type Args = Record<string, unknown>;
const read = (args: Args, options: Args = {}): Promise<string> =>
  createReadFileTool({ cwd: base, ...options })
    .execute({ path: "file", ...args })
    .then(String);
const put = (content: string | Buffer): void => writeFileSync(join(base, "file"), content);

describe("contents exactly", () => {
  test.each([
    ["empty", ""],
    ["no last newline", "a\nb"],
    ["CRLF", "a\r\nb\r\n"],
    ["lone CR", "a\rb\r"],
    ["a byte order mark", "\ufeffa\n"],
    ["wide characters", "é😀\u2028\n"],
    ["NUL in valid UTF-8", "text with \0 inside\n"],
  ])("%s", async (_, text) => {
    put(text);
    expect(await read({})).toBe(text);
    expect(await read({ offset: 1, limit: 1000 })).toBe(text);
  });

  test("invalid UTF-8 is read with replacement characters, never an error", async () => {
    put(Buffer.from("caf\xe9 \xff ok\n", "latin1"));
    const note =
      "[2 bytes are not valid UTF-8 and shown as U+FFFD; encoding=latin1 reads Western text of one byte a character, encoding=base64 any bytes]";
    expect(await read({})).toBe(`caf\ufffd \ufffd ok\n\n${note}`);
    expect(await read({ encoding: "latin1" })).toBe("caf\xe9 \xff ok\n");
    put("one \ufffd that is there\n");
    expect(await read({})).toBe("one \ufffd that is there\n");
  });

  test.each([
    ["UTF-16BE", [0xfe, 0xff, 0, 0x61]],
    ["UTF-32LE", [0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]],
    ["UTF-32BE", [0, 0, 0xfe, 0xff, 0, 0, 0, 0x61]],
  ])("%s is named as what it is, with a way to convert it", async (name, bytes) => {
    put(Buffer.from(bytes));
    await expect(read({})).rejects.toThrow(
      `is ${name}, which no encoding here reads; convert it first, as with iconv -f ${name} -t UTF-8`,
    );
  });

  test("bytes that are not valid UTF-8 are counted as a strict decoder takes them", () => {
    const whole = Buffer.from("aé漢😀\ufffd\u{10ffff}");
    const counts = ["", "ff", "41c3", "e28241", "efbfbdff", "f09f9841efbf", "c080f5"].map((hex) =>
      countInvalidUtf8(Buffer.concat([whole, Buffer.from(hex, "hex")])),
    );
    expect(counts).toEqual([0, 1, 1, 2, 1, 5, 3]);
    for (let first = 0; first < 256; first += 1)
      // The others begin no character.
      for (let second = 0; second < 256; second += first < 0xc0 ? 16 : 1) {
        const bytes = Buffer.of(first, second, 0x80, 0xbf);
        expect(countInvalidUtf8(bytes) === 0).toBe(isUtf8(bytes));
      }
  });

  test("the other encodings", async () => {
    put(Buffer.from("\ufeffaé\nb", "utf16le"));
    expect(await read({ encoding: "utf16le" })).toBe("\ufeffaé\nb");
    expect(await read({ encoding: "utf16le", offset: 2 })).toBe("b");
    put(Buffer.from([0xe9, 10, 0xff]));
    expect(await read({ encoding: "latin1" })).toBe("é\nÿ");
    expect(await read({ encoding: "base64" })).toBe("6Qr/");
  });

  test.runIf(process.platform === "linux")("files whose size the system gives as 0", async () => {
    expect(await read({ path: "/proc/self/status" })).toMatch(/^Name:/);
    expect(await read({ path: "/proc/self/status", limit: 1 })).toMatch(/^Name:.*\n\n\[truncated: shown 1 lines/);
  });

  test("a link is followed", async () => {
    put("through");
    symlinkSync("file", join(base, "link"));
    expect(await read({ path: "link" })).toBe("through");
  });
});

describe("pages", () => {
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

  test("offset and limit take whole lines, and a cut says where to go on", async () => {
    put(lines(1, 10));
    expect(await read({ offset: 3, limit: 2 })).toBe(
      `${lines(3, 4)}\n[truncated: shown 2 lines, there is more; pass offset=5 to continue]`,
    );
    expect(await read({ offset: 9, limit: 2 })).toBe(lines(9, 10));
    expect(await read({ offset: 9 })).toBe(lines(9, 10));
  });

  test("a file of exactly the limit is whole; of one byte more it is cut to whole lines", async () => {
    put("aaaa\nbbbb\n");
    expect(await read({}, { maxBytes: 10 })).toBe("aaaa\nbbbb\n");
    expect(await read({}, { maxBytes: 9 })).toBe(
      "aaaa\n\n[truncated: shown 1 lines, there is more; pass offset=2 to continue]",
    );
  });

  test("the default limit is 256 KB, and Infinity gives files whole", async () => {
    const text = `${"x".repeat(99)}\n`.repeat(10_000);
    put(text);
    const page = await read({});
    expect(page.slice(0, 262_100)).toBe(text.slice(0, 262_100));
    expect(page.slice(262_100)).toBe("\n[truncated: shown 2621 lines, there is more; pass offset=2622 to continue]");
    expect(await read({}, { maxBytes: Infinity })).toBe(text);
  });

  test("a line longer than the limit is cut, named in the notice, and can be skipped", async () => {
    put(`short\n${"é".repeat(600_000)}\nlast`);
    const notice =
      "[truncated: shown 262144 of 1200001 bytes of line 2 (search_text finds words in the rest); pass offset=3 to continue]";
    expect(await read({ offset: 2 })).toBe(`${"é".repeat(131_072)}\n\n${notice}`);
    expect(await read({ offset: 3 })).toBe("last");
    put(`${"é".repeat(20)}\n`);
    expect(await read({}, { maxBytes: 5 })).toBe(
      "éé\n\n[truncated: shown 4 of 41 bytes of line 1 (search_text finds words in the rest)]",
    );
    put("😀😀");
    expect(await read({}, { maxBytes: 7 })).toBe(
      "😀\n\n[truncated: shown 4 of 8 bytes of line 1 (search_text finds words in the rest)]",
    );
  });

  test.each([
    ["latin1", "é"],
    ["utf16le", "漢"],
    ["utf8", "\xff"],
  ])("a page of %s is at most maxBytes long as text, and the notices lead through the file", async (encoding, char) => {
    const file = `${`${char.repeat(9)}\n`.repeat(30)}${char.repeat(500)}\nlast`;
    put(Buffer.from(file, encoding === "utf16le" ? encoding : "latin1"));
    const text = encoding === "utf8" ? file.replaceAll(char, "\ufffd") : file;
    const long = 300 + 30;
    let whole = "";
    for (let offset = 1; ; ) {
      const page = await read({ encoding, offset }, { maxBytes: long });
      const cut = /\n\[truncated: shown \d+ .*pass offset=(\d+) to continue\]$/.exec(page);
      const body = page.replace(/(?:\n\[(?:\d+ bytes? |truncated: ).*\])+$/, "");
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(long + 1);
      whole += cut?.[0].includes("bytes of line 31") ? text.slice(300, 801) : body;
      if (!cut) break;
      offset = Number(cut[1]);
    }
    expect(whole).toBe(text);
  });

  test("an offset past the end says how many lines there are", async () => {
    put("a\nb");
    await expect(read({ offset: 3 })).rejects.toThrow("Invalid arguments: offset: 3 is past the end: file has 2 lines");
    for (const text of ["a\nb\n", "a\n\n", "\n\n"]) {
      put(text);
      await expect(read({ offset: 3 })).rejects.toThrow("file has 2 lines");
    }
    put("");
    expect(await read({ offset: 1 })).toBe("");
    await expect(read({ offset: 2 })).rejects.toThrow("file has 0 lines");
  });

  test("base64 is cut at whole groups, and refuses lines", async () => {
    put(Buffer.alloc(100, 7));
    const page = await read({ encoding: "base64" }, { maxBytes: 50 });
    expect(page).toBe(`${Buffer.alloc(36, 7).toString("base64")}\n\n[truncated: shown 36 of 100 bytes]`);
    await expect(read({ encoding: "base64", offset: 2 })).rejects.toThrow(/offset: counts lines/);
    await expect(read({ encoding: "base64", limit: 2 })).rejects.toThrow(/limit: counts lines/);
  });

  test("the first page of a sparse terabyte is bounded", async () => {
    put("");
    truncateSync(join(base, "file"), 2 ** 40);
    await expect(read({})).rejects.toThrow(`Binary file: file (${2 ** 40} bytes)`);
    const page = await read({ encoding: "latin1" });
    expect(page).toHaveLength(262_144 + page.slice(262_144).length);
    expect(page).toMatch(/shown 262144 bytes of line 1, there is more/);
  });
});

describe("what is refused", () => {
  test("binary content, with its name, its size and how to read it anyway", async () => {
    put(Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]));
    await expect(read({})).rejects.toThrow("Binary file: file (12 bytes); pass encoding=base64 to read it");
    put(Buffer.from("\ufeffsome text", "utf16le"));
    await expect(read({})).rejects.toThrow("pass encoding=utf16le");
  });

  test("a PDF, with its size and what makes text of it; text about PDFs is read", async () => {
    const words =
      "PDF, which is not read as text: file (10 bytes); convert it first, as with pdftotext FILE -, or pass";
    for (const bytes of ["%PDF-1.7\n\0", "%PDF-2.0\n%"]) {
      put(Buffer.from(bytes, "latin1"));
      await expect(read({})).rejects.toThrow(words);
      await expect(read({ offset: 1, limit: 1 })).rejects.toThrow(words);
      expect(await read({ encoding: "latin1" })).toBe(bytes);
      expect(await read({ encoding: "base64" })).toBe(btoa(bytes));
    }
    put("%PDF- begins a PDF\n");
    expect(await read({})).toBe("%PDF- begins a PDF\n");
  });

  test("a directory, a device, a pipe, a missing file", async () => {
    mkdirSync(join(base, "dir"));
    spawnSync("mkfifo", [join(base, "pipe")]);
    await expect(read({ path: "dir" })).rejects.toThrow("dir is a directory");
    await expect(read({ path: "pipe" })).rejects.toThrow("pipe is a named pipe");
    await expect(read({ path: "/dev/zero" })).rejects.toThrow("character device");
    await expect(read({ path: "no" })).rejects.toThrow("No such file or directory: no (ENOENT)");
  });
});

test("an abort ends a long scan, during which the event loop keeps turning", async () => {
  put("");
  truncateSync(join(base, "file"), 2 ** 36);
  const controller = new AbortController();
  // A scan that blocked the event loop would delay both the timers and the abort.
  let rounds = 0;
  const beat = setInterval(() => {
    rounds += 1;
    if (rounds === 20) controller.abort(new Error("stop"));
  }, 1);
  const tool = createReadFileTool({ cwd: base });
  const scan = tool.execute({ path: "file", encoding: "latin1", offset: 2 }, { signal: controller.signal });
  await expect(scan).rejects.toThrow("stop");
  clearInterval(beat);
});

test.runIf(process.platform === "linux")("few files are open at once, and none after the calls", async () => {
  put("x".repeat(300_000));
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, open())), 0);
  const tool = createReadFileTool({ cwd: base });
  await Promise.all(Array.from({ length: 40 }, () => tool.execute({ path: "file", encoding: "latin1" })));
  clearInterval(watch);
  expect(most).toBeLessThan(before + 10);
  expect(open()).toBeLessThanOrEqual(before);
});
