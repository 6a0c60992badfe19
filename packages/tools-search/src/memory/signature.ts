/**
 * Which trigrams (three bytes in a row) a file holds, as a small set of bits: a text with a trigram that is not in the set is not
 * in the file. The set is about half full, so that most texts of ten bytes or more are told from most files.
 */

/** Bits of the set that is filled first, and of the smallest that is kept, as powers of two. */
const widest = 16;
const narrowest = 8;

const wide = new Uint32Array(2 ** (widest - 5));

/** The set of a file: 2 ** n bits. Valid until the next call. */
export function signatureOf(bytes: Uint8Array): Uint32Array {
  wide.fill(0);
  let trigram = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  for (let at = 2; at < bytes.length; at += 1) {
    trigram = ((trigram << 8) | (bytes[at] as number)) & 0xffffff;
    const bit = placeOf(trigram) >>> (32 - widest);
    wide[bit >>> 5] = (wide[bit >>> 5] as number) | (1 << (bit & 31));
  }
  let count = 0;
  for (let at = 0; at < wide.length; at += 1) count += bitsOf(wide[at] as number);
  let width = narrowest;
  while (width < widest && 2 ** width < count * 1.5) width += 1;
  return narrow(width);
}

/** Folds the wide set: a bit of the narrow one stands for its neighbours in the wide one. */
function narrow(width: number): Uint32Array {
  const shift = widest - width;
  if (shift === 0) return wide;
  const set = new Uint32Array(2 ** (width - 5));
  for (let at = 0; at < wide.length; at += 1) {
    for (let word = wide[at] as number; word !== 0; word &= word - 1) {
      const bit = ((at << 5) | (31 - Math.clz32(word & -word))) >>> shift;
      set[bit >>> 5] = (set[bit >>> 5] as number) | (1 << (bit & 31));
    }
  }
  return set;
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

/** Undefined where a text is too short to tell. With `anyCase` a letter stands for both its cases. */
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

/** Whether a file may hold one of the texts; its set lies in `words` from `start` and has `count` words. */
export function mayHold(words: Uint32Array, start: number, count: number, wanted: WantedTrigrams): boolean {
  const shift = Math.clz32(count) - 4;
  for (const trigrams of wanted) {
    let missing = false;
    for (let at = 0; at < trigrams.length && !missing; at += 1) {
      missing = true;
      for (const place of trigrams[at] as Int32Array) {
        const bit = place >>> shift;
        if (((words[start + (bit >>> 5)] as number) >>> (bit & 31)) & 1) missing = false;
      }
    }
    if (!missing) return true;
  }
  return false;
}
