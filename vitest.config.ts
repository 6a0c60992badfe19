import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url));
const folders = readdirSync(`${root}packages`)
  .filter((name) => existsSync(`${root}packages/${name}/package.json`))
  .map((name) => `packages/${name}`);

type Exports = Record<string, { default: string } | string>;

/** Tests read sources: each published subpath is mapped to the file it is built from. */
const alias = folders.flatMap((folder) => {
  const manifest = JSON.parse(readFileSync(`${root}${folder}/package.json`, "utf8")) as {
    name: string;
    exports: Exports;
  };
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            find: new RegExp(`^${manifest.name}${subpath.slice(1)}$`),
            replacement: `${root}${folder}/${target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`,
          },
        ],
  );
});
alias.push({ find: /^@toolcrib\/testing$/, replacement: `${root}testing/src/index.ts` });

const project = (folder: string, name: string) => ({
  resolve: { alias },
  test: {
    name,
    root: `${root}${folder}`,
    include: ["src/**/*.test.ts", "*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    typecheck: {
      enabled: existsSync(`${root}${folder}/src`),
      include: ["src/**/*.test-d.ts"],
      tsconfig: `${root}tsconfig.tests.json`,
    },
  },
});

export default defineConfig({
  test: {
    reporters: ["default", `${root}scripts/closingLine.ts`],
    projects: [
      ...folders.map((folder) => project(folder, folder.replace("packages/", "@toolcrib/"))),
      project("testing", "@toolcrib/testing"),
      project("scripts", "scripts"),
    ],
    coverage: { provider: "v8", include: ["packages/*/src/**"] },
  },
});
