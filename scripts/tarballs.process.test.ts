import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "@toolcrib/testing";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { packOnce } from "./packOnce.mjs";
import { runsAtInstall, runtimeTree } from "./runtimeTree.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = sharedFolder("tarballs");
const packages = readdirSync(join(root, "packages"));

const globbing =
  "fast-glob @nodelib/fs.stat @nodelib/fs.walk @nodelib/fs.scandir run-parallel queue-microtask fastq reusify glob-parent is-glob is-extglob merge2 micromatch braces fill-range to-regex-range is-number picomatch";
const mcp =
  "@modelcontextprotocol/client @modelcontextprotocol/core @modelcontextprotocol/server cross-spawn path-key shebang-command shebang-regex which isexe eventsource eventsource-parser jose pkce-challenge zod";
/**
 * The dependencies of each package from elsewhere beside the two of core, and its limit in megabytes with all of them. The
 * sizes are bounds for accidents: a bundle carried twice, a dependency that has grown.
 */
const installed: Record<string, { brings?: string; megabytes: number }> = {
  core: { megabytes: 0.9 },
  adapters: { megabytes: 1 },
  kit: { megabytes: 1.1 },
  agent: { megabytes: 1.6 },
  policy: { brings: "unbash", megabytes: 1.65 },
  contracts: { megabytes: 1.3 },
  "tools-bash": { megabytes: 1.1 },
  "tools-fs": { brings: "diff", megabytes: 1.8 },
  "tools-search": { brings: globbing, megabytes: 2 },
  "tools-web": { brings: "parse5 entities", megabytes: 2.5 },
  "tools-program": { brings: "quickjs-wasi", megabytes: 3.1 },
  skills: { megabytes: 1.5 },
  defaults: { brings: `diff ${globbing}`, megabytes: 3.4 },
  acp: { brings: "unbash @agentclientprotocol/sdk zod", megabytes: 20 },
  page: { megabytes: 1.7 },
  // The engine is an optional peer: nobody gets it who does not ask for it.
  durable: { megabytes: 1.75 },
  mcp: { brings: `jsonc-parser ${mcp}`, megabytes: 25.5 },
  remote: { megabytes: 1.7 },
  cli: {
    brings: `diff unbash jsonc-parser quickjs-wasi @agentclientprotocol/sdk ${globbing} ${mcp}`,
    megabytes: 43,
  },
};

const template = (file: string): string => `templates/init/${file}`;
/** Files of a tarball beside the built code and its types. */
const more: Record<string, readonly string[]> = {
  agent: ["session.schema.json"],
  cli: [
    "THIRD-PARTY-NOTICES.md",
    ...["bash", "fish", "zsh"].map((shell) => `completion/toolcrib.${shell}`),
    "config.schema.json",
    "events.schema.json",
    "container/Dockerfile",
    ...["README.md", "_.gitignore", "_package.json", "src/agent.test.ts", "src/agent.ts", "src/main.ts"].map(template),
    ...["src/tools/countWords.test.ts", "src/tools/countWords.ts", "tsconfig.json"].map(template),
  ],
  remote: ["dist/toolHost.cjs"],
  policy: ["COMMANDS.md"],
  skills: ["THIRD-PARTY-NOTICES.md"],
};
const published =
  /^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json|dist\/(?:[\w-]+\/)*[\w-]+(?:\.d\.ts|\.js|\.mjs)|dist\/manifest\.json)$/;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly exports: Record<string, string | Record<string, string>>;
  readonly bin?: Record<string, string>;
}

const opened = (name: string): string => join(folder, "opened", name, "package");
const filesOf = (name: string): string[] =>
  readdirSync(opened(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(opened(name).length + 1)
        .replaceAll("\\", "/"),
    );
const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(opened(name), "package.json"), "utf8"));

function bytesIn(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + bytesIn(join(path, entry.name));
    return entry.isFile() ? sum + statSync(join(path, entry.name)).size : sum;
  }, 0);
}

beforeAll(() => {
  const packed = packOnce();
  for (const name of packages) {
    const cwd = join(folder, "opened", name);
    mkdirSync(cwd, { recursive: true });
    const { version } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as Manifest;
    execFileSync("tar", ["-xzf", join(packed, `toolcrib-${name}-${version}.tgz`)], { cwd });
  }
});

test("packing twice gives the same bytes, whatever the time zone and the rights of new files are", () => {
  const code = `process.umask(0o077); await import(${JSON.stringify(join(root, "scripts/packAll.mjs"))})`;
  execFileSync(process.execPath, ["--input-type=module", "-e", code, "--", "packAll", join(folder, "second")], {
    cwd: root,
    env: { ...process.env, TZ: "Asia/Tokyo" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const files = readdirSync(packOnce()).filter((file) => file.endsWith(".tgz"));
  expect(files).toHaveLength(packages.length);
  for (const file of files) {
    const [first, second] = [packOnce(), join(folder, "second")].map((each) => readFileSync(join(each, file)));
    expect(first?.equals(second ?? Buffer.of()), file).toBe(true);
  }
});

test.each(["cli", "skills"])("the notices of %s name each package whose code it holds", async (name) => {
  const home = join(root, "packages", name);
  const source = readdirSync(join(home, "src"), { recursive: true, encoding: "utf8" });
  const { dependencies = {} } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as Manifest;
  const { metafile } = await build({
    ...{
      entryPoints: source.filter((file) => /(?<!\.test(?:-d)?)\.ts$/.test(file)).map((file) => join(home, "src", file)),
    },
    ...{ bundle: true, splitting: true, format: "esm", platform: "node", outdir: folder, write: false, metafile: true },
    external: Object.keys(dependencies).flatMap((each) => [each, `${each}/*`]),
  });
  const held = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [/.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []] : [],
    ),
  );
  const notices = readFileSync(join(home, "THIRD-PARTY-NOTICES.md"), "utf8");
  expect(held.length).toBeGreaterThan(0);
  for (const each of new Set(held.flat())) expect(notices).toContain(each);
});

describe.each(packages)("%s", (name) => {
  test("its tarball holds the built code, its types and what users read, and nothing of this machine", () => {
    const files = filesOf(name);
    const others = files.filter((file) => !published.test(file));
    expect(others.sort()).toEqual([...(more[name] ?? [])].sort());
    const { exports, bin = {} } = manifestOf(name);
    const targets = Object.values(exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    );
    for (const target of [...targets, ...Object.values(bin)]) expect(files).toContain(target.replace(/^\.\//, ""));
    for (const file of files) {
      const text = readFileSync(join(opened(name), file), "utf8");
      expect(text.includes(root) || (homedir().length > 1 && text.includes(`${homedir()}/`)), file).toBe(false);
      expect(text, file).not.toContain("sourceMappingURL=");
      // Bundlers find the file of a worker by these words.
      for (const [address] of text.matchAll(/new\s+URL\(\s*"\.\/\w+\.mjs"[^)]*\)/g))
        expect(address).toMatch(/^new URL\("\.\/\w+\.mjs", ?import\.meta\.url\)$/);
    }
  });

  test("its manifest can be read by any package manager", () => {
    expect(JSON.stringify(manifestOf(name))).not.toMatch(/"(?:workspace|catalog|file|link):/);
  });

  test("neither it nor what it brings runs anything at install", () => {
    expect(runsAtInstall({ folder: opened(name), manifest: manifestOf(name) })).toBe(false);
    const tree = runtimeTree(join(root, "packages", name));
    expect([...tree].filter(([, each]) => runsAtInstall(each)).map(([key]) => key)).toEqual([]);
  });

  test("it brings what is listed, and is not larger than that", () => {
    const tree = [...runtimeTree(join(root, "packages", name)).values()];
    const foreign = tree.filter(({ manifest }) => !manifest.name.startsWith("@toolcrib/"));
    const { brings = "", megabytes = 0 } = installed[name] ?? {};
    const expected = ["@cfworker/json-schema", "@standard-schema/spec", ...brings.split(" ").filter(Boolean)];
    expect(foreign.map(({ manifest }) => manifest.name).sort()).toEqual(expected.sort());
    const bytes = tree.map(({ folder: home, manifest }) => {
      const own = /^@toolcrib\/(.+)$/.exec(manifest.name)?.[1];
      return bytesIn(own === undefined ? home : opened(own));
    });
    expect(bytes.reduce((sum, each) => sum + each) / 1e6).toBeLessThan(megabytes);
  });
});

test("everything but model SDKs, the protocols, durable runs, the web, programs and the command is at most 36 packages of 5 MB", () => {
  const trees = packages
    .filter((name) => !["acp", "mcp", "page", "durable", "tools-web", "tools-program", "cli"].includes(name))
    .map((name) => runtimeTree(join(root, "packages", name)));
  const all = new Map(trees.flatMap((tree) => [...tree]));
  expect(all.size).toBeLessThanOrEqual(36);
  const homes = [...all.values()].map(({ folder: home, manifest: { name } }) =>
    name.startsWith("@toolcrib/") ? opened(name.slice("@toolcrib/".length)) : home,
  );
  expect(homes.reduce((sum, home) => sum + bytesIn(home), 0)).toBeLessThan(5e6);
});
