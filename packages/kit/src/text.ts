export { defaultMaxReplyBytes, leftOutNotice, withMiddleLeftOut, withNewline } from "./text/cuts.ts";
export { byteOrderMark, dominantLineEnding, isBinary } from "./text/encoding.ts";
export {
  fittingPicture,
  type ImageHeader,
  imageFormat,
  readImageHeader,
  sharpAdvice,
  signatureLength,
} from "./text/imageHeader.ts";
export { createEventCounter, LineSplitter } from "./text/lineSplitter.ts";
export { originIn, originWithin, serverPrefix } from "./text/origins.ts";
export { objectSchema, parseJson, withoutComments } from "./text/parseJson.ts";
export { headerSecrets, isSecret, redacted, redactUrls, secretForms, withoutSecrets } from "./text/secrets.ts";
