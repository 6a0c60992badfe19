import { build } from "../../tsup.base.ts";

export default build(["src/threads/searchWorker.ts"], { needsFiles: true });
