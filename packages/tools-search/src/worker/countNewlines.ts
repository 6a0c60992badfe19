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
      for (let i = at >> 2; i < end; ) {
        // Four counts side by side in one number, taken apart before any of them can overflow.
        const stop = Math.min(end, i + 255);
        let counts = 0;
        for (; i < stop; i += 1) {
          const differs = (words[i] as number) ^ 0x0a0a0a0a;
          const zeroBytes = ~(((differs & 0x7f7f7f7f) + 0x7f7f7f7f) | differs | 0x7f7f7f7f);
          counts = (counts + (zeroBytes >>> 7)) | 0;
        }
        count += (counts & 0xff) + ((counts >>> 8) & 0xff) + ((counts >>> 16) & 0xff) + (counts >>> 24);
      }
      at = end << 2;
    }
    for (; at < to; at += 1) if (bytes[at] === 10) count += 1;
    return count;
  };
}
