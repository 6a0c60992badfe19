// `npm start`: the toolcrib command of this clone, in the directory the user is in; the demo when nothing is asked for.
process.chdir(process.env.INIT_CWD ?? ".");
if (process.argv.length === 2) process.argv.push("demo");
await import("../packages/cli/dist/bin.js");
