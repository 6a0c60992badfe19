/**
 * The trigrams (three bytes in a row) that a file holds, as a small set of bits: a text with a trigram that is not in the set is not in the
 * file. The set is about half full, so that most texts of ten bytes or more are told from most files.
 */

/** Bits of the largest set and of the smallest, as powers of two. */
const widest = 16;
const narrowest = 8;

const wide = new Uint32Array(2 ** (widest - 5));

/** Returns the set of a file: 2 ** n bits. */
export function signatureOf(bytes: Uint8Array): Uint32Array {
  let width = narrowest;
  while (width < widest && 2 ** width < bytes.length * 4) width += 1;
  let length = 2 ** (width - 5);
  wide.fill(0, 0, length);
  let trigram = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  for (let at = 2; at < bytes.length; at += 1) {
    trigram = ((trigram << 8) | (bytes[at] as number)) & 0xffffff;
    const bit = placeOf(trigram) >>> (32 - width);
    wide[bit >>> 5] = (wide[bit >>> 5] as number) | (1 << (bit & 31));
  }
  let count = 0;
  for (const word of wide.subarray(0, length)) count += bitsOf(word);
  for (; width > narrowest && 2 ** (width - 1) >= count * 1.5; width -= 1) {
    length /= 2;
    for (let at = 0; at < length; at += 1) {
      wide[at] = halfOf(wide[2 * at] as number) | (halfOf(wide[2 * at + 1] as number) << 16);
    }
  }
  return wide.slice(0, length);
}

/** Returns 16 bits, each of which stands for two neighbours. */
function halfOf(word: number): number {
  let half = (word | (word >>> 1)) & 0x55555555;
  half = (half | (half >>> 1)) & 0x33333333;
  half = (half | (half >>> 2)) & 0x0f0f0f0f;
  half = (half | (half >>> 4)) & 0x00ff00ff;
  return (half | (half >>> 8)) & 0xffff;
}

function placeOf(trigram: number): number {
  return Math.imul(trigram, 0x9e3779b1);
}

function bitsOf(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Texts, one of which a file must hold: the places of their trigrams, each in all its spellings. */
export type WantedTrigrams = readonly (readonly Int32Array[])[];

/** Returns the trigrams; undefined if a text is too short to tell. With `anyCase` a letter stands for both its cases. */
export function wantedTrigrams(texts: readonly string[], anyCase: boolean): WantedTrigrams | undefined {
  const wanted = texts.map((text) => trigramsOf(text, anyCase));
  return wanted.length > 0 && wanted.every((trigrams) => trigrams.length > 0) ? wanted : undefined;
}

function trigramsOf(text: string, anyCase: boolean): Int32Array[] {
  const bytes = Buffer.from(text);
  const trigrams: Int32Array[] = [];
  for (let at = 0; at + 2 < bytes.length; at += 1) {
    const part = [...bytes.subarray(at, at + 3)];
    // Letters beyond ASCII may equal others, and k and s, without case.
    if (anyCase && part.some((byte) => byte > 127 || "kKsS".includes(String.fromCharCode(byte)))) continue;
    const spellings = part.map((byte) => (anyCase && isLetter(byte) ? [byte, byte ^ 32] : [byte]));
    const [first = [], second = [], third = []] = spellings;
    trigrams.push(
      Int32Array.from(first.flatMap((a) => second.flatMap((b) => third.map((c) => placeOf((a << 16) | (b << 8) | c))))),
    );
  }
  return trigrams;
}

function isLetter(byte: number): boolean {
  return (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
}

/** Returns whether a file may hold one of the texts; its set lies in `words` from `start` and has `count` words. */
export function mayHold(words: Uint32Array, start: number, count: number, wanted: WantedTrigrams): boolean {
  const shift = Math.clz32(count) - 4;
  for (const trigrams of wanted) {
    let missing = false;
    for (const places of trigrams) {
      if (missing) break;
      missing = true;
      for (const place of places) {
        const bit = place >>> shift;
        if (((words[start + (bit >>> 5)] as number) >>> (bit & 31)) & 1) missing = false;
      }
    }
    if (!missing) return true;
  }
  return false;
}
