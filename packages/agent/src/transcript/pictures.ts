/** Pictures as addresses that hold them, as long as they fit. */
export interface Pictures {
  /** The address; or in words why there is none. */
  place(block: {
    readonly data: string;
    readonly mimeType: string;
  }): { readonly address: string } | { readonly why: string };
}

/** What a browser shows without running anything. */
const shown: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function createPictures(maxBytes: number): Pictures {
  let left = maxBytes;
  return {
    place({ data, mimeType }) {
      const kind = mimeType.toLowerCase();
      if (!shown.has(kind)) return { why: "a picture of a kind that is not shown here" };
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return { why: "a picture that is damaged" };
      if (data.length > left)
        return { why: `a picture of ${Math.ceil((data.length * 3) / 4096)} KB, left out for its size` };
      left -= data.length;
      return { address: `data:${kind};base64,${data}` };
    },
  };
}
