import { build } from "../../tsup.base.ts";

export default build(["src/page/pageWorker.ts"]);
