export { messageOf } from "./errors.ts";
export { isObject } from "./json.ts";
export {
  byteLimit,
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
export { clip, cutHead, printableName, showInvisible, withoutControls } from "./text/printable.ts";
