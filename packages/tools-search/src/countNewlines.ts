/** Counts the line feeds in `bytes` from `from` up to `to`, four bytes at a time where they are aligned. */
export function createNewlineCounter(bytes: Buffer): (from: number, to: number) => number {
  const words =
    bytes.byteOffset % 4 === 0 ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : undefined;
  return (from, to) => {
    let count = 0;
    let at = from;
    if (words !== undefined && to - from > 16) {
      for (; at % 4 !== 0; at += 1) if (bytes[at] === 10) count += 1;
      const end = to >> 2;
      for (let i = at >> 2; i < end; i += 1) {
        // The high bit of each byte that is zero after the exclusive or, that is: of each line feed.
        const differs = (words[i] as number) ^ 0x0a0a0a0a;
        const found = ~(((differs & 0x7f7f7f7f) + 0x7f7f7f7f) | differs | 0x7f7f7f7f);
        if (found !== 0) count += (found >>> 31) + ((found >>> 23) & 1) + ((found >>> 15) & 1) + ((found >>> 7) & 1);
      }
      at = end << 2;
    }
    for (; at < to; at += 1) if (bytes[at] === 10) count += 1;
    return count;
  };
}
