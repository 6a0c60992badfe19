import { join } from "node:path";
import { drawPicture, temporaryFolder, watchLoop, withoutSharp, withSharpAs, writeIn } from "@toolcrib/testing";
import sharp from "sharp";
import { describe, expect, test, vi } from "vitest";
import { pictureLimits, readImageHeader } from "../text/imageHeader.ts";
import { fitEncodedPicture, fitPicture } from "./fitPicture.ts";

const { fittingSide: side, fittingBytes: mostBytes } = pictureLimits;

async function sizeAfter(bytes: Buffer): Promise<string> {
  const { format, width, height } = readImageHeader((await fitPicture(bytes)) ?? new Uint8Array()) ?? {};
  return `${format} ${width} x ${height}`;
}

function rejection(bytes: Buffer): Promise<string> {
  return fitPicture(bytes).then(
    () => "",
    (error: Error) => error.message,
  );
}

/** A PNG whose header says another size than it has. */
async function lyingPng(width: number, height: number): Promise<Buffer> {
  const bytes = await drawPicture(10, 10);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

test("a picture that fits is left as it is, and so is what is no picture of a known format", async () => {
  const fits = await drawPicture(side, 20);
  expect(await fitPicture(fits)).toBe(fits);
  for (const text of ["<svg xmlns='http://www.w3.org/2000/svg' width='9000' height='9000'/>", "%PDF-1.7", "BM", ""]) {
    const bytes = Buffer.concat([Buffer.from(text), Buffer.alloc(4_000_000)]);
    expect(await fitPicture(bytes), text).toBe(bytes);
  }
});

describe("a picture is made smaller", () => {
  test.each([
    ["png", "PNG"],
    ["jpeg", "JPEG"],
    ["webp", "WebP"],
    ["gif", "PNG"],
  ] as const)("a %s, to a %s of the same proportions", async (format, becomes) => {
    expect(await sizeAfter(await drawPicture(2400, 24, { format }))).toBe(`${becomes} 2000 x 20`);
  });

  test("that is long and thin", async () => {
    expect(await sizeAfter(await drawPicture(9000, 1))).toBe("PNG 2000 x 1");
  });

  test("of too many bytes, to a WebP where PNG would not do", async () => {
    const bytes = await drawPicture(1300, 1000, { isNoise: true });
    expect(bytes.length).toBeGreaterThan(mostBytes);
    const smaller = (await fitPicture(bytes)) ?? new Uint8Array();
    expect(readImageHeader(smaller)).toMatchObject({ format: "WebP", width: 1300, height: 1000 });
    expect(smaller.length).toBeLessThanOrEqual(mostBytes);
  });

  test("upright, without what a camera noted", async () => {
    const bytes = await drawPicture(2400, 240, { format: "jpeg", orientation: 6 });
    const smaller = Buffer.from((await fitPicture(bytes)) ?? []);
    expect(await sharp(smaller).metadata()).toMatchObject({ width: 200, height: 2000 });
    expect(await sharp(smaller).metadata()).not.toHaveProperty("orientation");
    expect(smaller.includes("Exif")).toBe(false);
    const corner = { left: 190, top: 10, width: 1, height: 1 };
    const [red = 0, , blue = 0] = await sharp(smaller).extract(corner).raw().toBuffer();
    expect([red > 200, blue < 50]).toEqual([true, true]);
  });

  test("of an animation, the first frame", async () => {
    const frames = [await drawPicture(2400, 100), await drawPicture(2400, 100, { format: "jpeg" })];
    const animation = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer();
    expect((await sharp(animation).metadata()).pages).toBe(2);
    expect(await sizeAfter(animation)).toBe("PNG 2000 x 83");
  });

  test("from the colours of print", async () => {
    const bytes = await drawPicture(2400, 100, { format: "jpeg", colours: "cmyk" });
    expect((await sharp(bytes).metadata()).space).toBe("cmyk");
    expect((await sharp(await fitPicture(bytes)).metadata()).space).toBe("srgb");
  });

  test("several at once, while the event loop goes on", async () => {
    const bytes = await drawPicture(2400, 1000, { format: "jpeg" });
    await fitPicture(bytes);
    const loop = watchLoop();
    await Promise.all([fitPicture(bytes), fitPicture(bytes)]);
    expect(loop.stop()).toBeLessThan(100);
  });
});

describe("a picture that cannot be made smaller is refused in words", () => {
  test("where it is cut off", async () => {
    const bytes = await drawPicture(2400, 240, { format: "jpeg" });
    expect(await rejection(bytes.subarray(0, bytes.length / 2))).toMatch(
      /^it cannot be made smaller: it cannot be decoded: .{5,200}$/,
    );
  });

  test("where it has less than its header says", async () => {
    expect(await rejection(await lyingPng(3000, 3000))).toMatch("it cannot be decoded");
  });

  test("where it would take much memory, before anything is decoded", async () => {
    expect(await rejection(await lyingPng(60_000, 60_000))).toMatch("60000 x 60000 pixels, and the most is 50 million");
    const large = Buffer.concat([await drawPicture(10, 10), Buffer.alloc(pictureLimits.mostBytes)]);
    expect(await rejection(large)).toMatch(/it has \d+ bytes, and the most is 50000000/);
  });

  test("where that takes too long, and so is one that waits behind it", async () => {
    const folder = temporaryFolder("sharp");
    writeIn(
      folder,
      "sharp.cjs",
      "const one = new Proxy({}, { get: (_, name) => () => (name === 'toBuffer' ? new Promise((_, end) => setTimeout(end, 100)) : one) }); module.exports = () => one;",
    );
    withSharpAs(join(folder, "sharp.cjs"));
    const clock = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(clock.signal);
    try {
      const bytes = await drawPicture(3000, 10);
      const refused = Promise.all([rejection(bytes), rejection(bytes)]);
      clock.abort();
      expect(await refused).toEqual([expect.stringMatching("more than 15 s"), expect.stringMatching("more than 15 s")]);
    } finally {
      timeout.mockRestore();
    }
  });
});

test("a picture in base64 gets the type of its bytes, which services compare, and is else left as it is", async () => {
  const data = (await drawPicture(20, 10)).toString("base64");
  const block = { type: "image", data, mimeType: "image/png" };
  expect(await fitEncodedPicture(block)).toBe(block);
  expect(await fitEncodedPicture({ ...block, mimeType: "image/jpeg" })).toEqual(block);
  for (const other of ["", "aGk=", "!", btoa("<svg/>")]) {
    const unknown = { data: other, mimeType: "image/png" };
    expect(await fitEncodedPicture(unknown)).toBe(unknown);
  }
  const large = (await drawPicture(3000, 10, { format: "gif" })).toString("base64");
  expect(await fitEncodedPicture({ ...block, data: large })).toMatchObject({ type: "image", mimeType: "image/png" });
  withoutSharp();
  expect(await fitEncodedPicture({ ...block, data: large })).toEqual({ ...block, data: large, mimeType: "image/gif" });
});

test("nothing is made smaller without the package sharp, or where it does not load", async () => {
  const bytes = await drawPicture(3000, 10);
  withoutSharp();
  expect(await fitPicture(bytes)).toBeUndefined();
  const folder = temporaryFolder("sharp");
  writeIn(folder, "sharp.cjs", "throw new Error('Could not load the module using the linux-x64 runtime')");
  withSharpAs(join(folder, "sharp.cjs"));
  expect(await fitPicture(bytes)).toBeUndefined();
});

test("an abort ends the wait with its reason, and the next picture is made smaller", async () => {
  const bytes = await drawPicture(2400, 240);
  await expect(fitPicture(bytes, AbortSignal.abort("before"))).rejects.toBe("before");
  const abort = new AbortController();
  const running = fitPicture(bytes, abort.signal);
  abort.abort("meanwhile");
  await expect(running).rejects.toBe("meanwhile");
  expect(await sizeAfter(bytes)).toBe("PNG 2000 x 200");
});
