import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedFolder } from "@toolcrib/testing";
import { beforeAll, expect, test } from "vitest";

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const packages = fileURLToPath(new URL("../../", import.meta.url));
const folder = sharedFolder("packed");

beforeAll(() => {
  for (const name of ["tarballs", "empty"]) mkdirSync(join(folder, name));
});

const readManifest = (path: string): Manifest =>
  JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
}

/** Packs the packages in `sources` with their workspace ranges replaced, as a release does; returns each tarball's path. */
function pack(sources: readonly string[]): string[] {
  const copies = sources.map((source) => {
    const manifest = readManifest(source);
    const copy = join(folder, "copies", manifest.name);
    cpSync(realpathSync(source), copy, {
      recursive: true,
      filter: (path) => !path.slice(source.length).includes("node_modules"),
    });
    const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
      name,
      range === "workspace:^" ? `^${readManifest(join(source, "node_modules", name)).version}` : range,
    ]);
    const released = {
      ...manifest,
      dependencies: Object.fromEntries(dependencies),
      devDependencies: undefined,
      scripts: undefined,
    };
    writeFileSync(join(copy, "package.json"), JSON.stringify(released));
    return copy;
  });
  const destination = join(folder, "tarballs");
  const packed = npm(["pack", ...copies, "--silent", "--pack-destination", destination], folder);
  return packed
    .trim()
    .split("\n")
    .map((name) => join(destination, name.trim()));
}

/** Names of the installed packages in node_modules, nested ones included. */
function installed(modules: string): string[] {
  return readdirSync(modules, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name.startsWith(".")) return [];
    if (entry.name.startsWith("@"))
      return readdirSync(join(modules, entry.name)).map((name) => `${entry.name}/${name}`);
    const nested = join(modules, entry.name, "node_modules");
    return [entry.name, ...(statSync(nested, { throwIfNoEntry: false }) ? installed(nested) : [])];
  });
}

test("core and tools-fs, packed and installed alone, install what they declare and nothing else", () => {
  const sources = ["core", "kit", "tools-fs"].map((name) => join(packages, name));
  const foreign = sources.flatMap((source) =>
    Object.keys(readManifest(source).dependencies ?? {})
      .filter((name) => !name.startsWith("@toolcrib/"))
      .map((name) => [name, join(source, "node_modules", name)] as const),
  );
  // Other dependencies are packed as they are installed here, so that no registry is needed.
  const [packedCore, packedKit, packedFs, ...packedForeign] = pack([
    ...sources,
    ...foreign.map(([, source]) => source),
  ]);
  const overrides = Object.fromEntries(foreign.map(([name], index) => [name, `file:${packedForeign[index]}`]));
  const dependencies = {
    "@toolcrib/core": `file:${packedCore}`,
    "@toolcrib/kit": `file:${packedKit}`,
    "@toolcrib/tools-fs": `file:${packedFs}`,
  };
  const empty = join(folder, "empty");
  writeFileSync(
    join(empty, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies, overrides }),
  );
  npm(["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], empty);

  const names = installed(join(empty, "node_modules")).sort();
  expect(names).toEqual(
    ["@toolcrib/core", "@toolcrib/kit", "@toolcrib/tools-fs", ...foreign.map(([name]) => name)].sort(),
  );
  const files = readdirSync(join(empty, "node_modules"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  console.log(
    `core + tools-fs from tarballs: ${names.length} packages, ${(bytes / 1e6).toFixed(2)} MB: ${names.join(", ")}`,
  );

  const own = files.filter((entry) => entry.parentPath.includes("@toolcrib") && entry.name.endsWith(".js"));
  const code = own.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
  expect(code).not.toMatch(/child_process|fast-glob|openai|@anthropic-ai/);
  expect(own.length).toBeGreaterThan(0);
  const script = `
    import { ToolRegistry } from "@toolcrib/core";
    import { createFsTools } from "@toolcrib/tools-fs";
    const registry = new ToolRegistry();
    for (const tool of createFsTools()) registry.register(tool);
    process.stdout.write(await registry.execute("list_dir", { path: "." }));`;
  expect(
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: empty, encoding: "utf8" }),
  ).toMatch(/^node_modules\/$/m);
});
