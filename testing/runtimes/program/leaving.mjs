// Leaves a command running in the background; ends by itself, or waits for a signal.
import { createBashTools } from "@toolcrib/tools-bash";

const [, , argument, signal] = process.argv;
const [run, read] = createBashTools({ background: true });
const command = `sleep ${argument} & setsid sleep ${argument} & echo on; wait`;
const { id } = JSON.parse(await run.execute({ command, background: true }));
await read.execute({ id, wait: 60_000 });
if (signal !== "undefined") setInterval(() => {}, 1000);
console.log("ready");
