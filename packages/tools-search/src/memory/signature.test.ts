import fc from "fast-check";
import { expect, test } from "vitest";
import { mayHold, signatureOf, wantedTrigrams } from "./signature.ts";

function maySetHold(bytes: Uint8Array, text: string, anyCase = false): boolean {
  const signature = signatureOf(bytes);
  return mayHold(signature, 0, signature.length, wantedTrigrams([text], anyCase) ?? expect.fail("too short"));
}

test("what a file holds is never ruled out, whatever its size", () => {
  const letters = fc.array(fc.constantFrom(..."abcXYZ 09_\n"), { minLength: 3, maxLength: 40 });
  const size = fc.integer({ min: 0, max: 17 }).chain((width) => fc.integer({ min: 0, max: 2 ** width }));
  fc.assert(
    fc.property(letters, size, fc.nat(), (chosen, before, seed) => {
      const text = chosen.join("");
      const bytes = Buffer.alloc(before + text.length + 9);
      for (let at = 0, state = seed; at < bytes.length; at += 1) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        bytes[at] = state >>> 24;
      }
      bytes.write(text, before);
      return maySetHold(bytes, text) && (!/[kKsS]/.test(text) ? maySetHold(bytes, text.toLowerCase(), true) : true);
    }),
  );
});

test("most texts are told from most files", () => {
  for (const lines of [1, 10, 100, 1000, 5000]) {
    const words = Array.from({ length: lines }, (_, line) => `line ${line} of ${lines * 7} with words ${line * 31}`);
    const bytes = Buffer.from(words.join("\n"));
    const absent = Array.from({ length: 200 }, (_, index) => `function${index}Of(other)`);
    expect(absent.filter((text) => maySetHold(bytes, text)).length, `${lines} lines`).toBeLessThan(4);
  }
});
