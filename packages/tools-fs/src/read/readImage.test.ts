import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ContentBlock, type ToolOutcome, ToolRegistry } from "@toolcrib/core";
import { readImageHeader } from "@toolcrib/kit/text";
import { drawPicture, temporaryFolder, withoutSharp } from "@toolcrib/testing";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { createFsTools } from "../fileSystem.ts";
import { longestImage } from "./readImage.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder("fs-image");
});

const read = (args: Record<string, unknown> = {}): Promise<ToolOutcome> =>
  new ToolRegistry(createFsTools({ cwd: root })).invoke("read_file", { path: "picture", ...args });

const save = (bytes: Buffer): void => writeFileSync(join(root, "picture"), bytes);

/** Whole images of one pixel. */
const onePixel: Readonly<Record<string, string>> = {
  PNG: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  GIF: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  WebP: "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
  "WebP without loss": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
  "WebP with transparency":
    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
};

function png(width: number, height: number): Buffer {
  const bytes = Buffer.from(onePixel.PNG ?? "", "base64");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

/** A JPEG up to its frame header, after an application segment of `before` bytes. */
function jpeg(width: number, height: number, before = 14, marker = 0xc0): Buffer {
  const segment = Buffer.alloc(before + 4);
  segment.writeUInt16BE(0xffe1, 0);
  segment.writeUInt16BE(before + 2, 2);
  const frame = Buffer.from([0xff, 0xff, marker, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 6);
  frame.writeUInt16BE(width, 8);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), segment, frame]);
}

test.each(Object.entries(onePixel))("a %s is answered as a picture with its size in words", async (name, data) => {
  save(Buffer.from(data, "base64"));
  const format = name.split(" ")[0] ?? "";
  const content: ContentBlock[] = [{ type: "image", data, mimeType: `image/${format.toLowerCase()}` }];
  const bytes = Buffer.from(data, "base64").length;
  expect(await read()).toMatchObject({ ok: true, output: `${format} image, 1 x 1 pixels, ${bytes} bytes`, content });
});

test.each([0xc0, 0xc2])("a JPEG's size is found behind its other segments: %i", async (marker) => {
  save(jpeg(640, 480, 60_000, marker));
  expect(await read()).toMatchObject({ ok: true, output: expect.stringContaining("JPEG image, 640 x 480 pixels") });
});

test("other sizes of the formats are read", () => {
  const sizeOf = (bytes: Buffer) => readImageHeader(bytes);
  expect(sizeOf(png(800, 7999))).toMatchObject({ width: 800, height: 7999 });
  const lossless = Buffer.from(onePixel["WebP without loss"] ?? "", "base64");
  lossless.writeUInt32LE(299 | (199 << 14), 21);
  expect(sizeOf(lossless)).toMatchObject({ width: 300, height: 200 });
  const extended = Buffer.from(onePixel["WebP with transparency"] ?? "", "base64");
  extended.writeUIntLE(70_000, 24, 3);
  extended.writeUIntLE(2, 27, 3);
  expect(sizeOf(extended)).toMatchObject({ width: 70_001, height: 3 });
});

test.each([
  [png(8001, 10), "PNG, 8001 x 10 pixels"],
  [png(10, 8001), "PNG, 10 x 8001 pixels"],
  [jpeg(9000, 9000), "JPEG, 9000 x 9000 pixels"],
])("too many pixels are refused by their number without the package sharp: %#", async (bytes, words) => {
  withoutSharp();
  save(bytes);
  const { length } = bytes;
  expect(await read()).toMatchObject({
    ok: false,
    error: {
      code: "execution_failed",
      message: `Image too large: picture (${words}, ${length} bytes); the most is 8000 pixels a side and 3750000 bytes: make it smaller, or install the package sharp to have that done here; encoding=base64 reads its bytes`,
    },
  });
});

test("an image of too many bytes is refused without the package sharp, with its size", async () => {
  withoutSharp();
  save(png(10, 10));
  truncateSync(join(root, "picture"), longestImage);
  expect(await read()).toMatchObject({ ok: true });
  truncateSync(join(root, "picture"), longestImage + 5);
  expect(await read()).toMatchObject({ ok: false, error: { message: expect.stringContaining("3750005 bytes)") } });
});

test("an image that services refuse beside many others is made smaller, and the words say so", async () => {
  const bytes = await drawPicture(2400, 24, { format: "gif" });
  save(bytes);
  const outcome = await read();
  expect(outcome).toMatchObject({
    ok: true,
    output: `GIF image, 2400 x 24 pixels, ${bytes.length} bytes, shown as PNG of 2000 x 20 pixels`,
    content: [{ type: "image", mimeType: "image/png" }],
    data: { bytes: bytes.length, image: { format: "GIF", width: 2400, height: 24 } },
  });
  const [image] = outcome.content ?? [];
  const shown = image?.type === "image" ? Buffer.from(image.data, "base64") : Buffer.alloc(0);
  expect(readImageHeader(shown)).toMatchObject({ format: "PNG", width: 2000, height: 20 });
});

test("one of more than 50 MB is refused", async () => {
  save(await drawPicture(10, 10));
  truncateSync(join(root, "picture"), 2 ** 30);
  expect(await read()).toMatchObject({
    ok: false,
    error: { message: expect.stringMatching(/1073741824 bytes\); .*the most is 50000000; encoding=base64 reads/) },
  });
});

test("one that cannot be decoded is refused, as it would be by the service", async () => {
  save(png(3000, 3000));
  expect(await read()).toMatchObject({
    ok: false,
    error: { code: "execution_failed", message: expect.stringMatching(/^Image too large: .* cannot be decoded: /) },
  });
});

test("the end of the call ends the wait for a smaller image", async () => {
  save(await drawPicture(2400, 200));
  const abort = new AbortController();
  const registry = new ToolRegistry(createFsTools({ cwd: root }));
  const running = registry.invoke("read_file", { path: "picture" }, { signal: abort.signal });
  abort.abort();
  expect(await running).toMatchObject({ ok: false, error: { code: "aborted" } });
});

test("its bytes are read as base64, and no lines of it", async () => {
  save(png(10, 10));
  expect(await read({ encoding: "base64" })).toMatchObject({ ok: true, output: png(10, 10).toString("base64") });
  expect(await read({ limit: 1 })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("Binary file") },
  });
});

test("text that begins as an image does is text, and a broken image is a binary file", async () => {
  save(Buffer.from("GIF89a is a format\n"));
  expect(await read()).toMatchObject({ ok: true, output: "GIF89a is a format\n" });
  save(png(10, 10).subarray(0, 20));
  expect(await read()).toMatchObject({ ok: false, error: { message: expect.stringContaining("Binary file") } });
  save(png(0, 10));
  expect(await read()).toMatchObject({ ok: false, error: { message: expect.stringContaining("Binary file") } });
});

test("no header is too broken to be looked at", () => {
  const heads = Object.values(onePixel).map((data) => Buffer.from(data, "base64"));
  fc.assert(
    fc.property(
      fc.constantFrom(...heads, jpeg(9, 9, 100)),
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(60),
      (head, tail, cut) => {
        const bytes = Buffer.concat([head.subarray(0, cut), tail]);
        const { width, height } = readImageHeader(bytes) ?? { width: 1, height: 1 };
        expect(Math.min(width, height)).toBeGreaterThan(0);
      },
    ),
  );
});
