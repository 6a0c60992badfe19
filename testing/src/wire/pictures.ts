import { isObject } from "../isObject.ts";
import { type Fields, Problems } from "./checks.ts";
import type { MessagesRules } from "./rules.ts";

const longestSide = 8000;
/** With more pictures than `few` each side may have fewer pixels. */
const few = 20;
const longestSideOfMany = 2000;
const mostBytes = 10 * 1024 * 1024;

/** The problems for which the Messages API would refuse the pictures of a request; those of all messages and results count. */
export function pictureProblems(messages: unknown, { mostPictures }: MessagesRules): readonly string[] {
  const problems = new Problems();
  const pictures: Fields[] = [];
  JSON.stringify(messages, (_key, value: unknown) => {
    if (isObject(value) && value.type === "image" && isObject(value.source)) pictures.push(value.source);
    return value;
  });
  problems.expect(pictures.length <= mostPictures, `${pictures.length} pictures, at most ${mostPictures}`);
  const most = pictures.length > few ? longestSideOfMany : longestSide;
  const many = most === longestSide ? "" : " for many-image requests";
  for (const { data, media_type } of pictures) {
    if (typeof data !== "string") continue;
    problems.expect(data.length <= mostBytes, `image exceeds 10 MB maximum: ${data.length} bytes`);
    const size = pictureSize(Buffer.from(data, "base64"));
    if (!problems.expect(size?.type === media_type, `Could not process image: it is no ${String(media_type)}`) || !size)
      continue;
    const { width, height } = size;
    problems.expect(
      Math.max(width, height) <= most,
      `image_dimensions_too_large: ${width} x ${height} exceeds the max allowed size${many}: ${most} pixels`,
    );
  }
  return problems.list;
}

interface Size {
  readonly type: string;
  readonly width: number;
  readonly height: number;
}

function pictureSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 24) return undefined;
  if (bytes.toString("latin1", 1, 4) === "PNG")
    return { type: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (bytes.toString("latin1", 0, 3) === "GIF")
    return { type: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  if (bytes.toString("latin1", 8, 12) === "WEBP") return { type: "image/webp", width: 1, height: 1 };
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : undefined;
}

function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at);
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { type: "image/jpeg", height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
  }
  return undefined;
}
