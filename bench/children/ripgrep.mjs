// rg spawned from Node with its output read to the end: what a tool that shells out pays.
import { spawn } from "node:child_process";
import { answer } from "../pairs.mjs";
import { ripgrep } from "../peers.mjs";

const program = ripgrep();
const cwd = process.argv[2];
const flags = [
  "--hidden",
  "-g",
  "!.git",
  "--no-require-git",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--no-ignore-dot",
  // The rules of this repository, which lie above the trees, are not those of the trees.
  "--no-ignore-parent",
];

answer(
  ({ args }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...flags, ...args], { cwd, stdio: ["ignore", "pipe", "ignore"] });
      let count = 0;
      child.stdout.on("data", (chunk) => {
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
      });
      child.on("error", reject);
      child.on("close", () => resolve(count));
    }),
);
