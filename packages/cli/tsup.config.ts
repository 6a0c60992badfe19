import { build } from "../../tsup.base.ts";

export default build([], { needsFiles: true });
