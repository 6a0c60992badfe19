// Types: every README's examples and every entry, as three compilers see the published files.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run, write } from "../project.mjs";
import { npmProject, tarballs } from "../tarballs.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
export const compilers = { ts59: "npm:typescript@5.9.3", ts60: "npm:typescript@6.0.3", ts70: "npm:typescript@7.0.2" };

/** Declarations that the READMEs leave to the reader, where an example uses them. */
const yours = {
  registry: 'import type { ToolRegistry } from "@toolcrib/core";\ndeclare const registry: ToolRegistry;\n',
  model: "declare const model: string;\n",
  prompt: "declare const prompt: string;\n",
};
const missingIn = (code) =>
  Object.entries(yours)
    .filter(
      ([name]) =>
        new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let) ${name}\\b|ToolRegistry`).test(code),
    )
    .map(([, declaration]) => declaration)
    .join("");

/** Each `ts` block of each README as a file of its own. */
function examples() {
  const pages = ["README.md", ...readdirSync(`${root}packages`).map((name) => `packages/${name}/README.md`)];
  return Object.fromEntries(
    pages.flatMap((page) =>
      [...readFileSync(root + page, "utf8").matchAll(/^```ts(?: [^\n]*)?\n([\s\S]*?)^```/gm)].map(([, code], index) => [
        `examples/${page.replaceAll("/", "-").replace(/\.md$/, "")}-${index}.ts`,
        // Two examples may use one name: each is a module.
        `${missingIn(code)}${code}\nexport {};\n`,
      ]),
    ),
  );
}

/** Every entry that the packages export. */
function entries() {
  return Object.keys(tarballs)
    .flatMap((name) => {
      const { exports = {} } = JSON.parse(
        readFileSync(`${root}packages/${name.slice("@toolcrib/".length)}/package.json`, "utf8"),
      );
      return Object.entries(exports)
        .filter(([, target]) => typeof target === "object" && "types" in target)
        .map(([entry]) => name + entry.slice(1));
    })
    .map((specifier, index) => `import * as entry${index} from "${specifier}";\nvoid entry${index};`)
    .join("\n");
}

export const compilerOptions = (resolution, more) => ({
  compilerOptions: {
    target: "es2023",
    module: resolution === "bundler" ? "esnext" : "nodenext",
    moduleResolution: resolution,
    strict: true,
    exactOptionalPropertyTypes: false,
    skipLibCheck: false,
    noEmit: true,
    lib: ["es2023", "dom", "dom.iterable"],
    types: [],
    ...more,
  },
});

let withNode;
const compile = (compiler, resolution) => async () => {
  withNode ??= npmProject("types", {
    dependencies: { ...compilers, "@types/node": "^24.0.0", ...readmePeers },
    files: { ...examples(), "entries.ts": entries() },
  });
  const folder = await withNode;
  const config = `tsconfig.${compiler}.${resolution}.json`;
  write(folder, {
    [config]: JSON.stringify({ ...compilerOptions(resolution, { types: ["node"] }), include: ["examples/*.ts"] }),
  });
  await run(folder, process.execPath, [`node_modules/${compiler}/bin/tsc`, "-p", config]);
};

/** The imports of the READMEs' examples beside the packages. */
const readmePeers = {
  "@anthropic-ai/sdk": "^1.12.0",
  "@google/genai": "*",
  "@langchain/core": "*",
  "@openai/agents": "*",
  "@opentelemetry/api": "*",
  "@restatedev/restate-sdk": "^1.17.2",
  ai: "^7",
  arktype: "*",
  langchain: "*",
  openai: "^7.57.0",
  zod: "^4.2.0",
};

export const types = [
  ...Object.keys(compilers).flatMap((compiler) =>
    ["nodenext", "bundler"].map((resolution) => [`types, ${compiler}, ${resolution}`, compile(compiler, resolution)]),
  ),
];
