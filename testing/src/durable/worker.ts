// One worker process. It ends with its parent, and at a message from it. Argument: its options as JSON.
import { openRuns, type RunsOptions } from "./agents.ts";

const runs = await openRuns(JSON.parse(process.argv[2] ?? "") as RunsOptions);
await runs.work();
process.on("disconnect", () => process.exit(0));
process.on("message", () => void runs.close().then(() => process.exit(0)));
process.send?.("ready");
