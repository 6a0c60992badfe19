// For the other packages of toolcrib, which are made of the same pieces. Authors of tools have no need of it.
export { withoutClock } from "./arguments/clockValues.ts";
export { mendSchema } from "./arguments/mend.ts";
export { repair } from "./arguments/repair.ts";
export { draftOf, filterKeywords, mapSchemas, pointerName, walkSchema } from "./arguments/schemaParts.ts";
export { attempt } from "./callSafely.ts";
export {
  type Definition,
  definitionFor,
  definitionsFor,
  mostChatTools,
  tooManyTools,
} from "./definitions/definition.ts";
export type { Wire } from "./definitions/rules.ts";
export { choicesOf, isError, isMarked, MarkedError } from "./errors.ts";
export { canonicalJson, isPlainObject, mostLevels, quote, setOwn } from "./json.ts";
export {
  editDistance,
  isLegalName,
  nearestName,
  withLegalCharacters,
} from "./names.ts";
export {
  checkValues,
  type DefaultedSpec,
  kindOf,
  type OptionSpec,
  type OptionSpecs,
  option,
  type ReadOptions,
  readOptions,
  withDefault,
} from "./options.ts";
export { longestDelayMs, untilAborted } from "./registry/deadline.ts";
export { guardedCallOf, leftOpen } from "./registry/guards.ts";
export { noteChangedArguments } from "./registry/outcome.ts";
export { schemasForModel, traitsOf } from "./registry/registration.ts";
export { rankTools } from "./registry/toolSearch.ts";
export { beyondLimit, headAndTail } from "./text/cut.ts";
export { oneLine, showLine, showLines, shownName } from "./text/printable.ts";
export { mostUpTo, offeredFolder, upToOf } from "./upTo.ts";
