import { readFileSync } from "node:fs";
import { defineConfig } from "tsup";

type Manifest = { exports?: Record<string, { default: string } | string>; bin?: Record<string, string> };

/** One build for every package: the entries are what its manifest publishes, plus the worker files it names. */
export function build(workers: string[] = []): ReturnType<typeof defineConfig> {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const published = Object.values(manifest.exports ?? {}).flatMap((target) =>
    typeof target === "string" ? [] : [target.default],
  );
  const sources = [...published, ...Object.values(manifest.bin ?? {})].map((file) =>
    file.replace(/^(?:\.\/)?dist\//, "src/").replace(/\.js$/, ".ts"),
  );
  return defineConfig({
    entry: Object.fromEntries(
      [...new Set([...sources, ...workers])].map((file) => [file.replace(/^src\//, "").replace(/\.ts$/, ""), file]),
    ),
    format: ["esm"],
    target: "node22",
    platform: "node",
    dts: false,
    sourcemap: true,
    clean: ["**/*"],
    splitting: true,
  });
}
