export { defaultMaxReplyBytes, leftOutNotice, withMiddleLeftOut, withNewline } from "./text/cuts.ts";
export { byteOrderMark, dominantLineEnding, isBinary } from "./text/encoding.ts";
export { createEventCounter } from "./text/eventBytes.ts";
export {
  fittingPicture,
  type ImageHeader,
  imageFormat,
  readImageHeader,
  sharpAdvice,
  signatureLength,
} from "./text/imageHeader.ts";
export { isSecret } from "./text/isSecret.ts";
export { LineSplitter } from "./text/lineSplitter.ts";
export { objectSchema } from "./text/objectSchema.ts";
export { originIn, originWithin, serverPrefix } from "./text/origins.ts";
export { parseJson, withoutComments } from "./text/parseJson.ts";
export { redactUrls } from "./text/redactUrls.ts";
export { headerSecrets, redacted, secretForms, withoutSecrets } from "./text/secrets.ts";
