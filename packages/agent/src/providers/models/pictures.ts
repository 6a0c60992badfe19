import { clip } from "@toolcrib/core/text";
import { readImageHeader, sharpAdvice } from "@toolcrib/kit/text";
import { memoize } from "../../memoize.ts";
import type { ImageBlock, Message } from "../../messages.ts";
import type { PictureLimits } from "./modelRules.ts";

export type Picture = Pick<ImageBlock, "data" | "mimeType">;

const pictureTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Says why a service refuses every picture of a type; undefined where it takes it. */
export function pictureTypeProblem({ mimeType }: Picture, model: string): string | undefined {
  const taken = /gemini/i.test(model) ? pictureTypes.filter((type) => type !== "image/gif") : pictureTypes;
  return taken.includes(mimeType)
    ? undefined
    : `it is ${clip(mimeType, 100)}, and the model accepts ${taken.join(", ")}`;
}

/** Says why a picture cannot join those before it. Undefined where it can. */
export function pictureProblem(
  picture: Picture,
  earlier: readonly Picture[],
  limits: PictureLimits,
): string | undefined {
  const { width, height } = sizeOf(picture);
  const { side, many } = limits;
  const pixels = `it is ${width} x ${height} pixels, and the model accepts at most`;
  if (picture.data.length > limits.bytes)
    return `it has ${picture.data.length} bytes as base64, and the model accepts at most ${limits.bytes}; ${sharpAdvice}`;
  if (longestSide(picture) > side) return `${pixels} ${side} a side; ${sharpAdvice}`;
  const total = bytesOf(earlier) + picture.data.length;
  if (total > limits.total)
    return `the pictures of the conversation would have ${total} bytes as base64, and the model accepts at most ${limits.total}`;
  if (earlier.length >= limits.count)
    return `the conversation has ${earlier.length} pictures, and the model accepts no more`;
  if (earlier.length < many.count) return undefined;
  const beside = `beside ${many.count} other pictures`;
  if (longestSide(picture) > many.side) return `${pixels} ${many.side} a side ${beside}; ${sharpAdvice}`;
  if (earlier.some((one) => longestSide(one) > many.side))
    return `an earlier one has more than ${many.side} pixels a side, which the model does not accept ${beside}; the package sharp, once installed, shrinks such pictures`;
  return undefined;
}

/** Returns the pictures of a conversation that the model takes: all but those that another model was given and this one refuses. */
export function acceptedPictures(messages: readonly Message[], limits: PictureLimits): readonly Picture[] {
  const taken: Picture[] = [];
  for (const picture of messages.flatMap(picturesOf))
    if (pictureProblem(picture, taken, limits) === undefined) taken.push(picture);
  return taken;
}

/** Returns how much of what the model takes the pictures of a conversation are, in number or in bytes: 1 is all. */
export function pictureShare(messages: readonly Message[], limits: PictureLimits): number {
  const pictures = messages.flatMap(picturesOf);
  return Math.max(pictures.length / limits.count, bytesOf(pictures) / limits.total);
}

/** Pixels of a side of the square that services count as a token, and the most tokens of one picture. */
const tokenSide = 28;
const mostTokens = 5000;
const unknownTokens = 1500;

/** Returns about how many tokens a picture costs, whatever its bytes. */
export function pictureTokens(picture: Picture): number {
  const { width, height } = sizeOf(picture);
  if (width === 0) return unknownTokens;
  return Math.min(mostTokens, Math.ceil(width / tokenSide) * Math.ceil(height / tokenSide));
}

function bytesOf(pictures: readonly Picture[]): number {
  return pictures.reduce((sum, { data }) => sum + data.length, 0);
}

export function picturesOf({ content = [] }: Message): readonly Picture[] {
  return [...content].filter((block): block is ImageBlock => block.type === "image");
}

function longestSide(picture: Picture): number {
  const { width, height } = sizeOf(picture);
  return Math.max(width, height);
}

/** Returns nothing where the picture is of a kind that is not known. */
const sizeOf = memoize(({ data }: Picture) => readImageHeader(Buffer.from(data, "base64")) ?? { width: 0, height: 0 });
