export { patternSteps } from "./arguments/patternRisk.ts";
export { messageOf } from "./errors.ts";
export { isObject } from "./json.ts";
export {
  byteLimit,
  type CutMiddle,
  cutBytes,
  defaultMaxReplyBytes,
  leftOutNotice,
  limitBytes,
  type Truncation,
  truncationNotice,
  withMiddleLeftOut,
  withNewline,
  withNotice,
} from "./text/cut.ts";
export { byteOrderMark, dominantLineEnding, isBinary } from "./text/encoding.ts";
export { isSecret } from "./text/isSecret.ts";
export { parseJson } from "./text/parseJson.ts";
export { clip, cutHead, printableName, showInvisible, withoutControls } from "./text/printable.ts";
export { redactUrls } from "./text/redactUrls.ts";
export { headerSecrets, redacted, secretForms, withoutSecrets } from "./text/secrets.ts";
export { withoutComments } from "./text/withoutComments.ts";
