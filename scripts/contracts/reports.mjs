// What a package publishes, as text to keep and compare: its manifest of tools, and a report of the types of each subpath.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const compilerOptions = {
  target: "es2023",
  lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
  module: "nodenext",
  moduleResolution: "nodenext",
  strict: true,
  skipLibCheck: true,
  types: ["node"],
};

/**
 * The reports of a built package, by file name. Those of types are kept beside in `cache`, as they take seconds, and made anew once a
 * declaration has changed.
 */
export async function makeReports(folder, cache) {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const reports = await apiReports(folder, manifest, join(cache, basename(folder)));
  const tools = manifest.exports["./manifest.json"];
  if (tools) reports.set("manifest.json", readFileSync(join(folder, tools), "utf8"));
  return reports;
}

async function apiReports(folder, manifest, cache) {
  const stamp = hashOf(folder, manifest);
  const stampFile = join(cache, "stamp");
  if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
    rmSync(cache, { recursive: true, force: true });
    await extract(folder, manifest, cache);
    writeFileSync(stampFile, stamp);
  }
  return readReports(join(cache, "reports"));
}

/** Of all that a report is made of: the declarations of the package, which name those of others, and what makes it. */
function hashOf(folder, { name, exports }) {
  const extractor = createRequire(import.meta.url)("@microsoft/api-extractor/package.json").version;
  const hash = createHash("sha256").update(JSON.stringify([name, exports, extractor]));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  const files = readdirSync(join(folder, "dist"), { recursive: true }).filter((file) => file.endsWith(".d.ts"));
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(folder, "dist", file)));
  return hash.digest("hex");
}

async function extract(folder, { exports }, cache) {
  const entries = Object.entries(exports).flatMap(([subpath, { types }]) =>
    types ? [[subpath, join(folder, types)]] : [],
  );
  const [reportFolder, reportTempFolder] = [join(cache, "reports"), join(cache, "temp")];
  for (const path of [reportFolder, reportTempFolder]) mkdirSync(path, { recursive: true });
  if (entries.length === 0) return;
  const { CompilerState, Extractor, ExtractorConfig } = await import("@microsoft/api-extractor");
  const quiet = { default: { logLevel: "none" } };
  const configs = entries.map(([subpath, mainEntryPointFilePath]) =>
    ExtractorConfig.prepare({
      configObject: {
        projectFolder: folder,
        mainEntryPointFilePath,
        newlineKind: "lf",
        compiler: { overrideTsconfig: { compilerOptions, files: entries.map(([, file]) => file) } },
        apiReport: {
          enabled: true,
          reportFileName: `${subpath === "." ? "index" : subpath.slice(2)}.api.md`,
          reportFolder,
          reportTempFolder,
          // A type that an export names is part of what users meet, exported or not.
          includeForgottenExports: true,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: { extractorMessageReporting: quiet, tsdocMessageReporting: quiet },
      },
      configObjectFullPath: undefined,
      packageJsonFullPath: join(folder, "package.json"),
    }),
  );
  const additionalEntryPoints = entries.map(([, file]) => file);
  const compilerState = CompilerState.create(configs[0], { additionalEntryPoints });
  for (const config of configs) {
    const problems = [];
    const messageCallback = (message) => {
      message.handled = true;
      if (message.logLevel === "error") problems.push(message.text);
    };
    Extractor.invoke(config, { compilerState, localBuild: true, messageCallback });
    if (problems.length > 0) throw new Error(`API Extractor, ${config.mainEntryPointFilePath}: ${problems.join("\n")}`);
  }
}

/** The files of a folder of reports by name; none where it is not there. */
export function readReports(folder) {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => /\.api\.md$|^manifest\.json$/.test(name))
    : [];
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** Makes the reports of a folder those given: no other stays. */
export function writeReports(folder, reports) {
  for (const name of readReports(folder).keys()) if (!reports.has(name)) rmSync(join(folder, name));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of reports) writeFileSync(join(folder, name), text);
}
