import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HeadTailBuffer } from "./headTailBuffer.ts";

const marker = /\[… (\d+) bytes left out …\]\n/;
const notice = /\n\n\[truncated: shown (\d+) of (\d+) bytes\]$/;

function filled(size: number, ...chunks: (string | Buffer)[]): HeadTailBuffer {
  const buffer = new HeadTailBuffer(size);
  for (const chunk of chunks) buffer.push(Buffer.from(chunk as string));
  return buffer;
}

describe("HeadTailBuffer", () => {
  test("returns everything that fits, up to the last byte", () => {
    expect(new HeadTailBuffer(8).toString()).toBe("");
    expect(filled(8, "abc", "", "defgh").toString()).toBe("abcdefgh");
    expect(filled(8, "\ufeffa\r\n").toString()).toBe("\ufeffa\r\n");
    expect(filled(8, "abcdefghi").toString()).not.toContain("abcdefghi");
  });

  test("keeps whole lines of both ends, marks the gap and counts what it dropped", () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join("");
    expect(filled(40, text).toString()).toBe(
      `line 0\nline 1\n[… ${text.length - 30} bytes left out …]\nline 98\nline 99\n\n[truncated: shown 30 of ${text.length} bytes]`,
    );
  });

  test("shows the ends of a line that is longer than what is kept", () => {
    expect(filled(8, `abcd${"x".repeat(1000)}wxyz`).toString()).toBe(
      "abcd\n[… 1000 bytes left out …]\nwxyz\n\n[truncated: shown 8 of 1008 bytes]",
    );
  });

  test("never cuts a multi-byte character, wherever the cut falls", () => {
    for (const character of ["é", "€", "😀"]) {
      for (let shift = 0; shift < 4; shift += 1) {
        const text = filled(16, `${"a".repeat(shift)}${character.repeat(50)}${"b".repeat(shift)}`).toString();
        expect(text).not.toContain("\ufffd");
        expect(text).toContain(character);
      }
    }
  });

  test("joins a character that arrives in two chunks", () => {
    const [first, ...rest] = Buffer.from("😀");
    expect(filled(8, Buffer.from([first as number]), Buffer.from(rest)).toString()).toBe("😀");
  });

  test("shows the true beginning and end for any bytes in any chunks", () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), chunks, (size, given) => {
        // Letters only, so that every byte is a character and no line ends.
        const letters = given.map((chunk) => Buffer.from(chunk.map((byte) => 97 + (byte % 26))));
        const whole = Buffer.concat(letters).toString();
        const shown = filled(size, ...letters).toString();
        if (whole.length <= size) {
          expect(shown).toBe(whole);
          return;
        }
        const [head, left, tail] = shown.replace(notice, "").split(marker);
        expect(`${head}`.trimEnd()).toBe(whole.slice(0, size >> 1));
        expect(`${tail}`.trimEnd()).toBe(whole.slice(whole.length - (size - (size >> 1))));
        expect(Number(left)).toBe(whole.length - size);
        expect(notice.exec(shown)?.slice(1)).toEqual([String(size), String(whole.length)]);
      }),
    );
  });

  test("a chunk may be reused after push", () => {
    const chunk = Buffer.from("abc");
    const buffer = filled(8);
    buffer.push(chunk);
    chunk.fill("z");
    expect(buffer.toString()).toBe("abc");
  });
});
