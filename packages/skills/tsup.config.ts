import { build } from "../../tsup.base.ts";

// The parser of YAML is built in: its package is seven times as large as what is used of it.
export default build([], { holdsCommonJs: true });
