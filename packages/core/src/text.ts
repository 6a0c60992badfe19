export { messageOf } from "./errors.ts";
export { clip, cutHead, isObject } from "./json.ts";
export {
  cutBytes,
  limitBytes,
  type Truncation,
  truncationNotice,
  withNotice,
} from "./text/cut.ts";
export { printableName, showInvisible, withoutControls } from "./text/printable.ts";
