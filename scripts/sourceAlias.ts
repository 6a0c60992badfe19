import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

type Exports = Record<string, { default: string } | string>;

/** Folders of the published packages, relative to the root. */
export const packageFolders: readonly string[] = readdirSync(`${root}packages`)
  .filter((name) => existsSync(`${root}packages/${name}/package.json`))
  .map((name) => `packages/${name}`);

/** Tests read sources: each published subpath is mapped to the file it is built from. */
export const sourceAlias: { find: RegExp; replacement: string }[] = [
  ...packageFolders.flatMap((folder) => {
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
  }),
  { find: /^@toolcrib\/testing$/, replacement: `${root}testing/src/index.ts` },
  { find: /^@toolcrib\/testing\/(.+)$/, replacement: `${root}testing/src/$1.ts` },
  { find: /^@toolcrib\/testing-agent\/(.+)$/, replacement: `${root}testing/agent/src/$1.ts` },
];
