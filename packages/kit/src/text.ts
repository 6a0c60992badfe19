export { byteOrderMark, dominantLineEnding, isBinary } from "./text/encoding.ts";
export { type ImageHeader, imageFormat, readImageHeader, signatureLength } from "./text/imageHeader.ts";
export { isSecret } from "./text/isSecret.ts";
export { LineSplitter } from "./text/lineSplitter.ts";
export { parseJson } from "./text/parseJson.ts";
export { redactUrls } from "./text/redactUrls.ts";
export { headerSecrets, redacted, secretForms, withoutSecrets } from "./text/secrets.ts";
export { withoutComments } from "./text/withoutComments.ts";
