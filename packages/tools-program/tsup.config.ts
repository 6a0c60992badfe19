import { build } from "../../tsup.base.ts";

export default build(["src/engine/programWorker.ts"]);
