// The toolcrib command in a process that stays: calls its `main` for one list of arguments after the other, each in its folder and
// with its environment. Argument: the built file that users start.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const bin = process.argv[2];
const [, built] = /import\("(\.\/main-[\w-]+\.js)"\)/.exec(readFileSync(bin, "utf8"));
const { main } = await import(new URL(built, pathToFileURL(bin)));
// Each call listens for signals.
process.setMaxListeners(0);

let turn = Promise.resolve();
process.on("message", (call) => {
  turn = turn.then(() => run(call));
});
process.on("disconnect", () => process.exit());

async function run({ args, cwd, env }) {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const end = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    process[name].write = (text, ...rest) => {
      end[name] += text;
      rest.find((one) => typeof one === "function")?.();
      return true;
    };
  }
  process.send({ code: await main(args), ...end });
}
