// Bundlers: the packages inside somebody's file. Where a bundle has no file for the search thread, that is said, and plain searches work.
import { join } from "node:path";
import { run } from "../project.mjs";
import {
  checkResult,
  commonJsProgram,
  esModule,
  esProgram,
  resultOf,
  runScenario,
  withoutThreads,
} from "../scenario.mjs";
import { npmProject } from "../tarballs.mjs";

/** Of the cases of every check, which need no others. */
const esbuildAlone = { esbuild: "0.28.2" };
const others = {
  "@vercel/ncc": "0.45.0",
  bun: "1.4.5",
  rolldown: "1.3.2",
  vite: "8.3.8",
  webpack: "5.112.2",
  "webpack-cli": "^6.0.1",
};

const projects = new Map();
const project = (dependencies) => {
  const made = projects.get(dependencies) ?? createBundled(dependencies);
  projects.set(dependencies, made);
  return made;
};
const createBundled = (dependencies) =>
  npmProject(`bundlers-${projects.size}`, {
    dependencies,
    files: {
      "esm.mjs": esProgram,
      "common.cjs": commonJsProgram,
      "webpack.config.cjs": `module.exports = { mode: "production", target: "node22", entry: "./esm.mjs", output: { path: __dirname + "/out/webpack" } };`,
      "vite.config.mjs": `export default { build: { ssr: "esm.mjs", outDir: "out/vite", emptyOutDir: true }, ssr: { noExternal: true } };`,
    },
  });

/** Bundles by a command, moves what came out away from node_modules, and runs it. */
const bundle = (build, output, differing) => async () => {
  const at = await project(output.includes("esbuild") ? esbuildAlone : others);
  for (const [command, args] of build) await run(at, command, args);
  const away = join(at, "..", `moved-${output.replaceAll("/", "-")}`);
  const [first, ...rest] = output.split("/").slice(1);
  await run(at, "rm", ["-rf", away]);
  await run(at, "cp", ["-r", join(at, "out", first), away]);
  return void (await runScenario(away, process.execPath, [rest.join("/")], { differing }));
};

const esbuild = (...args) => [
  ["npx", ["esbuild", "esm.mjs", "--bundle", "--platform=node", "--log-level=error", ...args]],
];

async function next(flag) {
  const at = await npmProject(`next-${flag.slice(2)}`, {
    dependencies: { next: "16.4.6", react: "^19.2.0", "react-dom": "^19.2.0" },
    files: {
      "lib/scenario.mjs": esModule,
      "app/layout.jsx":
        'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }',
      "app/page.jsx": "export default function Page() { return <p>ok</p>; }",
      "app/run/route.js":
        'import { scenario } from "../../lib/scenario.mjs";\nexport const dynamic = "force-dynamic";\nexport async function GET() { return Response.json(await scenario()); }',
      "ask.cjs": `const { spawn } = require("node:child_process");
const server = spawn(process.execPath, ["node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", "0"], { stdio: ["ignore", "pipe", "inherit"] });
let text = "";
server.stdout.on("data", async (chunk) => {
  text += chunk;
  const address = /http:\\/\\/127\\.0\\.0\\.1:\\d+/.exec(text);
  if (!address || server.asked || !/Ready/.test(text)) return;
  server.asked = true;
  const answer = await fetch(address[0] + "/run");
  console.log("RESULT" + (await answer.text()));
  server.kill();
});
`,
    },
  });
  await run(at, "npx", ["next", "build", flag]);
  const { stdout } = await run(at, process.execPath, ["ask.cjs"]);
  checkResult(resultOf(stdout), either);
}

/** Right either way: a bundler may or may not bring the thread's file along. */
const either = { evil: new RegExp(`did not end|${withoutThreads.evil.source}`, "is") };

export const bundlers = [
  [
    "esbuild, ES module",
    bundle(
      esbuild(
        "--format=esm",
        "--outfile=out/esbuild/main.mjs",
        '--banner:js=import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      ),
      "out/esbuild/main.mjs",
      either,
    ),
    { short: true },
  ],
  [
    "esbuild, CommonJS",
    bundle(esbuild("--format=cjs", "--outfile=out/esbuild-cjs/main.cjs"), "out/esbuild-cjs/main.cjs", either),
    { short: true },
  ],
  [
    "esbuild, minified",
    bundle(
      esbuild("--format=cjs", "--minify", "--outfile=out/esbuild-min/main.cjs"),
      "out/esbuild-min/main.cjs",
      either,
    ),
  ],
  ["webpack 5", bundle([["npx", ["webpack"]]], "out/webpack/main.js", either)],
  ["vite, server build", bundle([["npx", ["vite", "build", "--logLevel", "error"]]], "out/vite/esm.js", either)],
  [
    "rolldown",
    bundle(
      [["npx", ["rolldown", "esm.mjs", "--platform", "node", "--format", "esm", "-d", "out/rolldown"]]],
      "out/rolldown/esm.js",
      either,
    ),
  ],
  ["ncc", bundle([["npx", ["ncc", "build", "esm.mjs", "-o", "out/ncc", "-q"]]], "out/ncc/index.mjs", either)],
  [
    "bun build",
    bundle(
      [["node_modules/@oven/bun-linux-x64/bin/bun", ["build", "esm.mjs", "--target=node", "--outdir=out/bun"]]],
      "out/bun/esm.js",
      either,
    ),
  ],
  ["next 16, turbopack", () => next("--turbopack")],
  ["next 16, webpack", () => next("--webpack")],
];
