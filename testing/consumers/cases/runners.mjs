// Test runners: other realms, other loaders.
import { run } from "../project.mjs";
import { checkResult, commonJs, esModule, resultOf } from "../scenario.mjs";
import { npmProject } from "../tarballs.mjs";

const esTest = `${esModule.replace(/export .*\n$/, "")}
test("scenario", async () => {
  const result = await scenario();
  nodeFs.writeFileSync("result.json", JSON.stringify(result));
}, 120_000);
`;
const commonJsTest = esTest.replace(
  /^[\s\S]*?\nasync function/,
  `${commonJs.slice(0, commonJs.indexOf("async function"))}async function`,
);

async function checkFile(folder) {
  const { stdout } = await run(folder, "cat", ["result.json"]);
  checkResult(resultOf(`RESULT${stdout}`));
}

const jestVersions = {
  jest: "30.5.2",
  "babel-jest": "30.5.2",
  "@babel/core": "^7.28.0",
  "@babel/preset-env": "^7.28.0",
  "babel-plugin-transform-import-meta": "^2.3.3",
};

async function jest(name, files, { env, dependencies = {}, type = "module" }) {
  const folder = await npmProject(name, { type, dependencies: { ...jestVersions, ...dependencies }, files });
  await run(folder, "npx", ["jest", "--ci"], { env });
  await checkFile(folder);
}

const jestEsm = () =>
  jest(
    "jest-esm",
    {
      "scenario.test.mjs": esTest,
      "jest.config.mjs": 'export default { transform: {}, testMatch: ["**/*.test.mjs"], testEnvironment: "node" };',
    },
    { env: { NODE_OPTIONS: "--experimental-vm-modules" } },
  );

const jestBabel = () =>
  jest(
    "jest-commonjs",
    {
      "scenario.test.js": commonJsTest,
      "jest.config.js":
        'module.exports = { transform: { "\\\\.[mc]?js$": "babel-jest" }, transformIgnorePatterns: [], testEnvironment: "node" };',
      "babel.config.js":
        'module.exports = { presets: [["@babel/preset-env", { targets: { node: "22" } }]], plugins: ["babel-plugin-transform-import-meta"] };',
    },
    { type: "commonjs" },
  );

const jestSwc = () =>
  jest(
    "jest-swc",
    {
      "scenario.test.js": commonJsTest,
      "jest.config.js": `module.exports = {
  transform: { "\\\\.[mc]?js$": ["@swc/jest", { jsc: { target: "es2023" }, module: { type: "commonjs" } }] },
  transformIgnorePatterns: [],
  testEnvironment: "node",
};`,
    },
    { type: "commonjs", dependencies: { "@swc/jest": "0.2.39", "@swc/core": "^1.13.0" } },
  );

let vitestFolder;
const vitest = (pool) => async () => {
  vitestFolder ??= npmProject("vitest", {
    dependencies: { vitest: "5.1.1" },
    files: { "scenario.test.js": `import { test } from "vitest";\n${esTest}` },
  });
  const folder = await vitestFolder;
  await run(folder, "rm", ["-f", "result.json"]);
  // The default inlines nothing of node_modules; a worker thread has no process.chdir, which the packages do not need.
  await run(folder, "npx", ["vitest", "run", `--pool=${pool}`]);
  await checkFile(folder);
};

export const runners = [
  ["jest, ES modules", jestEsm, { short: true }],
  ["jest, CommonJS by babel", jestBabel],
  ["jest, CommonJS by swc", jestSwc],
  ["vitest threads", vitest("threads")],
  ["vitest forks", vitest("forks")],
  ["vitest vmThreads", vitest("vmThreads"), { short: true }],
  ["vitest vmForks", vitest("vmForks")],
];
