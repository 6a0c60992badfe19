import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { defineConfig, type Options } from "tsup";

type PluginBuild = Parameters<NonNullable<Options["esbuildPlugins"]>[number]["setup"]>[0];

type Manifest = { exports?: Record<string, { default: string } | string>; bin?: Record<string, string> };

/** `src/worker/searchWorker.ts` is built to `dist/searchWorker.mjs`, beside the code that starts it; it is taken for a module in whatever folder a bundler puts it. */
const builtUrl = {
  name: "built-url",
  setup(build: PluginBuild) {
    build.onLoad({ filter: /Thread\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(
        /new URL\("[./]+(?:\w+\/)*(\w+)\.ts", import\.meta\.url\)/g,
        'new URL("./$1.mjs", import.meta.url)',
      ),
      loader: "ts",
    }));
  },
};

/**
 * One build for every package: the entries are what its manifest publishes, plus the worker files it names. A worker holds all
 * that it needs, as bundlers that carry it along carry along that file alone.
 */
export function build(workers: string[] = []): ReturnType<typeof defineConfig> {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const published = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === "string" ? [] : [target.default],
  );
  const sources = [...published, ...Object.values(manifest.bin ?? {})].map((file) =>
    file.replace(/^(?:\.\/)?dist\//, "src/").replace(/\.js$/, ".ts"),
  );
  const shared = {
    format: ["esm" as const],
    target: "node22",
    platform: "node" as const,
    dts: false,
    esbuildPlugins: [builtUrl],
  };
  return defineConfig([
    { ...shared, entry: named(sources), clean: ["**/*", "!**/*.mjs"], splitting: true },
    ...(workers.length === 0
      ? []
      : [
          {
            ...shared,
            entry: Object.fromEntries(workers.map((file) => [basename(file, ".ts"), file])),
            clean: false,
            splitting: false,
            noExternal: [/.*/],
            outExtension: () => ({ js: ".mjs" }),
            // What is bundled asks for modules of Node's by `require`.
            banner: { js: "const require = process.getBuiltinModule;" },
          },
        ]),
  ]);
}

function named(files: string[]): Record<string, string> {
  return Object.fromEntries([...new Set(files)].map((file) => [file.replace(/^src\//, "").replace(/\.ts$/, ""), file]));
}
