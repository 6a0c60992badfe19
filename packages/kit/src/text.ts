export { defaultMaxReplyBytes, leftOutNotice, withMiddleLeftOut, withNewline } from "./text/cuts.ts";
export { byteOrderMark, isBinary } from "./text/encoding.ts";
export {
  type ImageHeader,
  imageFormat,
  pictureLimits,
  readImageHeader,
  sharpAdvice,
} from "./text/imageHeader.ts";
export { createEventCounter, LineSplitter } from "./text/lineSplitter.ts";
export { originIn, originWithin, serverPrefix } from "./text/origins.ts";
export { objectSchema, parseJson, withoutComments } from "./text/parseJson.ts";
export { headerSecrets, isSecret, redacted, redactUrls, secretForms, withoutSecrets } from "./text/secrets.ts";
