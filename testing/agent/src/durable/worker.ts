// One worker process. It ends with its parent, and at a message from it. Argument: its options as JSON.
import { openRuns, type RunsOptions, untilTaken } from "./agents.ts";

const options = JSON.parse(process.argv[2] ?? "") as RunsOptions;
// As whatever keeps a program running would, where the database is away.
const runs = await untilTaken(() => openRuns(options));
await untilTaken(() => runs.work());
process.on("disconnect", () => process.exit(0));
process.on("message", () => void runs.close().then(() => process.exit(0)));
process.send?.("ready");
