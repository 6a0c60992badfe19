import { readImageHeader } from "@toolcrib/kit/text";
import type { ImageBlock, Message } from "../../messages.ts";
import type { PictureLimits } from "./modelRules.ts";

export type Picture = Pick<ImageBlock, "data" | "mimeType">;

/** Says why a picture cannot join those before it. Undefined where it can. */
export function whyNotTaken(picture: Picture, earlier: readonly Picture[], limits: PictureLimits): string | undefined {
  const { width, height } = sizeOf(picture);
  const { side, many } = limits;
  const pixels = `it is ${width} x ${height} pixels, and the model takes at most`;
  if (picture.data.length > limits.bytes)
    return `it has ${picture.data.length} bytes as base64, and the model takes at most ${limits.bytes}`;
  if (longestSide(picture) > side) return `${pixels} ${side} a side`;
  if (earlier.length >= limits.count)
    return `the conversation has ${earlier.length} pictures, and the model takes no more`;
  if (earlier.length < many.count) return undefined;
  const beside = `beside ${many.count} other pictures`;
  if (longestSide(picture) > many.side) return `${pixels} ${many.side} a side ${beside}`;
  if (earlier.some((one) => longestSide(one) > many.side))
    return `an earlier one has more than ${many.side} pixels a side, which the model does not take ${beside}`;
  return undefined;
}

/** Returns the pictures of a conversation that the model takes: all but those that another model was given and this one refuses. */
export function takenPictures(messages: readonly Message[], limits: PictureLimits): readonly Picture[] {
  const taken: Picture[] = [];
  for (const picture of messages.flatMap(picturesOf))
    if (whyNotTaken(picture, taken, limits) === undefined) taken.push(picture);
  return taken;
}

export function picturesOf({ content = [] }: Message): readonly Picture[] {
  return [...content].filter((block): block is ImageBlock => block.type === "image");
}

function longestSide(picture: Picture): number {
  const { width, height } = sizeOf(picture);
  return Math.max(width, height);
}

const sizes = new WeakMap<Picture, { readonly width: number; readonly height: number }>();

/** Returns nothing where the picture is of a kind that is not known. */
function sizeOf(picture: Picture): { readonly width: number; readonly height: number } {
  const known = sizes.get(picture) ?? readImageHeader(Buffer.from(picture.data, "base64")) ?? { width: 0, height: 0 };
  sizes.set(picture, known);
  return known;
}
