export { messageOf } from "./errors.ts";
export { isObject } from "./json.ts";
export {
  cutBytes,
  limitBytes,
  type Truncation,
  truncationNotice,
  withNotice,
} from "./text/cut.ts";
export { clip, cutHead, printableName, showInvisible, withoutControls } from "./text/printable.ts";
