import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { defineConfig, type Options } from "tsup";

type PluginBuild = Parameters<NonNullable<Options["esbuildPlugins"]>[number]["setup"]>[0];

type Manifest = { exports?: Record<string, { default: string } | string>; bin?: Record<string, string> };

/** `src/threads/searchWorker.ts` is built to `dist/searchWorker.mjs`, beside the code that starts it; it is taken for a module in whatever folder a bundler puts it. */
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

/** A worker file of a package that is bundled becomes a `data:` URL, held compressed. */
const workersWithin = {
  name: "workers-within",
  setup(build: PluginBuild) {
    build.onLoad({ filter: /\/(?:core|tools-\w+)\/dist\/[^/]+\.js$/ }, async ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const [address, name = ""] of contents.matchAll(/new URL\("\.\/(\w+)\.mjs", ?import\.meta\.url\)/g)) {
        const worker = readFileSync(join(dirname(path), `${name}.mjs`), "utf8");
        const { code } = await build.esbuild.transform(worker, { minify: true, format: "esm", target: "node22" });
        const packed = brotliCompressSync(code).toString("base64");
        const text = `process.getBuiltinModule("zlib").brotliDecompressSync(Buffer.from("${packed}", "base64"))`;
        contents = contents.replaceAll(address, `new URL("data:text/javascript;base64," + ${text}.toString("base64"))`);
      }
      return { contents, loader: "js" as const };
    });
  },
};

/**
 * Imports of Node's modules become calls: for an import of an ES module Node reads every export of the module, and `fs` loads its
 * streams when `ReadStream` is read.
 */
const builtinsByCall = {
  name: "builtins-by-call",
  renderChunk: (code: string) => ({
    code: code.replace(
      /\bimport(?:\s*\{([^{}]*)\}|\s+(\w+))\s*from\s*"(?:node:)?([\w/]+)"/g,
      (statement, names: string | undefined, whole: string, module: string) =>
        isBuiltin(module)
          ? `const ${names === undefined ? whole : `{${names.replace(/\s+as\s+/g, ":")}}`}=globalThis.process.getBuiltinModule("node:${module}")`
          : statement,
    ),
  }),
};

/** Bundlers find the file of a worker by these words, which a line may not end within. */
const wholeAddresses = {
  name: "whole-addresses",
  renderChunk: (code: string) => ({
    code: code.replace(/\bnew\s+URL\(\s*("[^"]*"),\s*import\.\s*meta\.\s*url\s*\)/g, "new URL($1,import.meta.url)"),
  }),
};

/**
 * Puts what each group of entries loads into one file, `joined-N.js`, of which the entries are faces; later groups use the files of earlier
 * ones. Otherwise esbuild makes a file for every set of entries that share code, and each takes Node half a millisecond.
 */
function joined(groups: string[][], sources: string[]): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "joined",
    async setup(build) {
      const { metafile } = await build.esbuild.build({
        ...{ entryPoints: sources, outdir: "dist", format: "esm", platform: "node", packages: "external" },
        ...{ bundle: true, write: false, metafile: true },
      });
      const files = new Map<string, string>();
      const collect = (file: string, into: string): void => {
        if (files.has(file)) return;
        files.set(file, into);
        for (const { path, kind, external } of metafile.inputs[file]?.imports ?? [])
          if (kind === "import-statement" && !external) collect(path, into);
      };
      groups.forEach((names, index) => {
        for (const name of names) collect(`src/${name}.ts`, `joined-${index + 1}`);
      });
      const homeOf = (path: string): string | undefined => files.get(relative("", path));
      const hubs = Object.fromEntries(groups.map((_, index) => [`joined-${index + 1}`, `joined:${index + 1}`]));
      build.initialOptions.entryPoints = { ...(build.initialOptions.entryPoints as Record<string, string>), ...hubs };

      build.onResolve({ filter: /^(?:joined:|\.|src\/)/ }, ({ path, importer, namespace, resolveDir, kind }) => {
        if (path.startsWith("joined:")) return { path: path.replace(":", "-"), namespace: "joined" };
        if (namespace === "face") return { path, external: true };
        const target = kind === "entry-point" ? resolve(path) : resolve(resolveDir, path);
        const home = homeOf(target);
        if (home === undefined) return undefined;
        if (kind === "entry-point") return { path: relative("", target), namespace: "face" };
        const own = namespace === "joined" ? importer : homeOf(importer);
        return home === own ? undefined : { path: `./${home}.js`, external: true };
      });
      build.onLoad({ filter: /./, namespace: "joined" }, ({ path: hub }) => {
        const own = [...files].filter(([, home]) => home === hub).map(([file]) => `export * from "./${file}";`);
        return { contents: own.join("\n"), resolveDir: "." };
      });
      build.onLoad({ filter: /./, namespace: "face" }, ({ path }) => {
        const output = path.replace(/^src/, "dist").replace(/\.ts$/, ".js");
        const names = metafile.outputs[output]?.exports ?? [];
        return { contents: `export { ${names.join(", ")} } from "./${homeOf(path)}.js";`, resolveDir: "." };
      });
    },
  };
}

/** Names joined files as they are seen from the folder of the file that loads them. */
const joinedFromFolders: NonNullable<Options["plugins"]>[number] = {
  name: "joined-from-folders",
  renderChunk(code, { path }) {
    const depth = relative("dist", path).split("/").length - 1;
    return { code: depth === 0 ? code : code.replaceAll('"./joined-', `"${"../".repeat(depth)}joined-`) };
  },
};

/** Code that is bundled may ask for modules of Node's by `require`. */
const banner = { js: "const require = process.getBuiltinModule;" };

/**
 * One build for every package: the entries are what its manifest publishes, plus the worker files it names. A worker holds all
 * that it needs, as bundlers that carry it along carry along that file alone. `holdsCommonJs`: a development dependency that is built in is not an ES module.
 * `needsFiles`: it works where there are files, so `process` is Node's. `together`: groups
 * of entries, by their names in `src`, each of which has one file.
 */
export function build(
  workers: string[] = [],
  { holdsCommonJs = false, needsFiles = false, together = [] as string[][] } = {},
): ReturnType<typeof defineConfig> {
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
    plugins: [wholeAddresses, ...(needsFiles ? [builtinsByCall] : [])],
  };
  return defineConfig([
    {
      ...shared,
      entry: named(sources),
      clean: ["**/*", "!**/*.{mjs,cjs}"],
      splitting: true,
      esbuildPlugins: [builtUrl, ...(together.length > 0 ? [joined(together, sources)] : [])],
      plugins: [...shared.plugins, joinedFromFolders],
      // Node reads each character of a file that it loads, and prints the line of an error that nobody catches.
      minifyWhitespace: true,
      esbuildOptions: (options) => {
        options.lineLimit = 160;
      },
      ...(holdsCommonJs && { banner }),
    },
    ...(workers.length === 0
      ? []
      : [
          {
            ...shared,
            entry: Object.fromEntries(workers.map((file) => [basename(file, ".ts"), file])),
            clean: false,
            splitting: false,
            noExternal: [/.*/],
            minify: true,
            outExtension: () => ({ js: ".mjs" }),
            banner,
          },
        ]),
  ]);
}

/** A program of one file without dependencies, to be run elsewhere: workers are held in it as text. */
export function buildProgram(name: string, file: string): Options {
  return {
    entry: { [name]: file },
    format: ["cjs"],
    target: "node22",
    platform: "node",
    dts: false,
    clean: false,
    splitting: false,
    minify: true,
    noExternal: [/.*/],
    esbuildPlugins: [workersWithin],
    outExtension: () => ({ js: ".cjs" }),
  };
}

function named(files: string[]): Record<string, string> {
  return Object.fromEntries([...new Set(files)].map((file) => [file.replace(/^src\//, "").replace(/\.ts$/, ""), file]));
}
