import { createHash } from "node:crypto";
import { registerHooks } from "node:module";
import sharp from "sharp";
import { onTestFinished } from "vitest";

export interface PictureOptions {
  readonly format?: "png" | "jpeg" | "gif" | "webp" | undefined;
  /** Each pixel another colour, so that it takes many bytes. */
  readonly isNoise?: true | undefined;
  /** A PNG that is not compressed: as many bytes as noise, and made smaller at once. */
  readonly isStored?: true | undefined;
  /** EXIF's word for how a camera was held: with 6 the picture is shown a quarter turned. */
  readonly orientation?: number | undefined;
  readonly colours?: "cmyk" | undefined;
}

/** Draws a picture: red at the top left, else blue, or noise. */
export async function drawPicture(width: number, height: number, options: PictureOptions = {}): Promise<Buffer> {
  const { format = "png", isNoise, isStored, orientation, colours } = options;
  const create = { width, height, channels: 3, background: "blue" } as const;
  const corner = {
    width: Math.ceil(width / 4),
    height: Math.ceil(height / 4),
    channels: 3,
    background: "red",
  } as const;
  const red = await sharp({ create: corner }).png().toBuffer();
  const raw = { width, height, channels: 3 } as const;
  let drawn = isNoise ? sharp(noise(width * height * 3), { raw }) : sharp({ create });
  if (!isNoise) drawn = drawn.composite([{ input: red, gravity: "northwest" }]);
  if (colours) drawn = drawn.toColourspace(colours);
  if (orientation) drawn = drawn.withMetadata({ orientation });
  return drawn.toFormat(format, isStored && { compressionLevel: 0 }).toBuffer();
}

/** Returns bytes that look random, the same ones each time. */
function noise(length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update("noise").digest();
}

/** For the rest of the test the package sharp is not installed. */
export function withoutSharp(): void {
  withSharpAs("/nowhere/sharp.cjs");
}

/** For the rest of the test the package sharp is the module of this path. */
export function withSharpAs(path: string): void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier === "sharp" ? path : specifier, context),
  });
  onTestFinished(() => hooks.deregister());
}
