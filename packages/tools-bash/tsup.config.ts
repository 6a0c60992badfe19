import { build } from "../../tsup.base.ts";

export default build([], { isDense: true, needsFiles: true, together: [["index"]] });
