import { attempt } from "@toolcrib/core/internal";

/** The format and size that the header of an image states. */
export interface ImageHeader {
  readonly format: "PNG" | "JPEG" | "GIF" | "WebP";
  readonly mimeType: string;
  readonly width: number;
  readonly height: number;
}

export const pictureLimits = {
  /** Pixels a side, and bytes (5 MB as base64), of one picture that services take however many a request holds. */
  fittingSide: 2000,
  fittingBytes: 3_750_000,
  /** Larger pictures are not opened: one of 50 million pixels takes 200 MB of memory. */
  mostPixels: 50_000_000,
  mostBytes: 50_000_000,
  /** Bytes by which a picture is told from other files. */
  signatureBytes: 12,
} as const;

/** The end of a message about a picture that is too large, if nothing makes it smaller. */
export const sharpAdvice = "make it smaller, or install the package sharp to have that done here";

/** Returns the format that the first bytes of a file are those of. */
export function imageFormat(head: Uint8Array): ImageHeader["format"] | undefined {
  const text = Buffer.from(head.subarray(0, pictureLimits.signatureBytes)).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "PNG";
  if (text.startsWith("\xff\xd8\xff")) return "JPEG";
  if (/^GIF8[79]a/.test(text)) return "GIF";
  return text.startsWith("RIFF") && text.endsWith("WEBP") ? "WebP" : undefined;
}

/** Reads the header of an image; undefined for bytes that are none of a known format, or whose header is broken. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const format = imageFormat(bytes);
  if (format === undefined) return undefined;
  // It may end within its header.
  const size = attempt(() => sizeOf(format, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
  if (size === undefined || size.width === 0 || size.height === 0) return undefined;
  return { format, mimeType: `image/${format.toLowerCase()}`, ...size };
}

interface Size {
  width: number;
  height: number;
}

function sizeOf(format: ImageHeader["format"], bytes: Buffer): Size | undefined {
  switch (format) {
    case "PNG":
      return bytes.toString("latin1", 12, 16) === "IHDR"
        ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
        : undefined;
    case "GIF":
      return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    case "JPEG":
      return sizeOfJpeg(bytes);
    case "WebP":
      return sizeOfWebp(bytes);
  }
}

/** Reads the size from the frame header, after segments of any number (a thumbnail, a colour profile). */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      // A byte of padding.
      at += 1;
    } else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
    } else if (marker === 0xd9 || marker === 0xda) {
      return undefined;
    } else {
      at += 2 + bytes.readUInt16BE(at + 2);
    }
  }
}

function sizeOfWebp(bytes: Buffer): Size | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      if (bytes.readUInt8(20) !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      if (bytes.toString("latin1", 23, 26) !== "\x9d\x01\x2a") return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}
