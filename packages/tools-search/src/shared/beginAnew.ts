/** A search on the caller's thread met what would hold the caller up, or lost its helper: it begins anew in a thread of its own. */
export class BeginAnew extends Error {
  constructor() {
    super("the search begins anew in a thread");
    this.name = "BeginAnew";
  }
}

/** Bytes of a file, a directory and a .gitignore that may be read at once, and how many names may be compared with rules: `matches` is a count of both. */
export interface SizeLimits {
  readonly file: number;
  readonly directory: number;
  readonly ignoreFile: number;
  readonly matches: number;
  /** Entries of directories that are remembered. */
  readonly remembered: number;
}

/** What takes a few milliseconds at most. */
export const sizesHere: SizeLimits = {
  file: 2 ** 21,
  directory: 2 ** 18,
  ignoreFile: 2 ** 15,
  matches: 2 ** 18,
  remembered: 5000,
};

export function checkSize(size: number, most: number | undefined): void {
  if (most !== undefined && size > most) throw new BeginAnew();
}
