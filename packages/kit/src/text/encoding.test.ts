import { describe, expect, test } from "vitest";
import { isBinary } from "./encoding.ts";

describe("binary content", () => {
  const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
  test("text is not binary: empty, plain, UTF-8, latin1, with some NULs, with ANSI colours", () => {
    expect(isBinary(bytes(""))).toBe(false);
    expect(isBinary(Buffer.from("é😀\r\n\ttext"))).toBe(false);
    expect(isBinary(bytes("caf\xe9 latin"))).toBe(false);
    expect(isBinary(bytes("some text with a \0 in it"))).toBe(false);
    expect(isBinary(bytes("\x1b[31mred\x1b[0m"))).toBe(false);
  });

  test("NUL bytes together with invalid UTF-8 are binary, and so are more than 30 % control bytes", () => {
    expect(isBinary(bytes("text \0 and \xff\xfe here"))).toBe(true);
    expect(isBinary(bytes("\x01\x02\x03\x04abcdef"))).toBe(true);
    expect(isBinary(bytes("\x01\x02\x03abcdefg"))).toBe(false);
    expect(isBinary(Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]))).toBe(true);
  });

  test("only the first 8 KB count, and a character cut at their end is not invalid", () => {
    const head = Buffer.from(`\0${"é".repeat(4096)}`);
    expect(isBinary(head)).toBe(false);
    expect(isBinary(Buffer.concat([Buffer.alloc(8192, 97), Buffer.from([0, 255])]))).toBe(false);
    expect(isBinary(Buffer.concat([Buffer.from("\0ok"), Buffer.from([0xc3])]), true)).toBe(true);
    expect(isBinary(Buffer.concat([Buffer.from("\0ok"), Buffer.from([0xc3])]), false)).toBe(false);
  });
});
