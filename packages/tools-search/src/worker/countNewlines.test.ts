import fc from "fast-check";
import { expect, test } from "vitest";
import { createNewlineCounter } from "./countNewlines.ts";

test("every line feed of any stretch is counted, whatever the bytes and their alignment", () => {
  const byte = fc.constantFrom(10, 10, 0, 9, 11, 0x8a, 0x0b, 0xff, 0x7f, 0x80, 65);
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 60 }), fc.nat(4), fc.nat(60), fc.nat(60), (bytes, shift, a, b) => {
      const whole = Buffer.from([...new Array(shift).fill(10), ...bytes]);
      const part = Buffer.from(new Uint8Array(whole).buffer).subarray(shift);
      const [from, to] = [Math.min(a, b, part.length), Math.min(Math.max(a, b), part.length)];
      const expected = bytes.slice(from, to).filter((one) => one === 10).length;
      expect(createNewlineCounter(part)(from, to)).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});

test("a long stretch of nothing but line feeds is counted to the last", () => {
  expect(createNewlineCounter(Buffer.alloc(100_003, "\n"))(1, 100_002)).toBe(100_001);
});
