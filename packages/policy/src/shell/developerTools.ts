const reporters = "default,verbose,basic,dot,spec,min,tap,tap-flat,list,line,json,junit,tree,nyan,progress,github";
const formats = "stylish,json,html,json-with-metadata,compact,unix";

/**
 * Options by which programs that developers run all day load a file, run a program, or write somewhere, and which the wildcard of a rule
 * does not cover. Names are compared without dashes and capitals, as many take `--out-dir` and `--outDir` alike. An entry
 * `--reporter:dot,json` is harmless with one of these values, and `-c:` without one; `--api.` is any name below it; `NAME=` is a variable.
 */
export const developerOptions: Readonly<Record<string, string>> = {
  ava: "--config --nodeArguments",
  cargo: "-C -Z + --config --manifestPath --targetDir --artifactDir --outDir --lockfilePath",
  eslint: `-c -o -f:${formats} --format:${formats} --config --rulesdir --resolvePluginsRelativeTo --parser --plugin --outputFile --init
    --cacheLocation --cacheFile --suppressionsLocation --flag --mcp`,
  jest: `-c --config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner
    --reporters:default,summary,github-actions,agent --transform --resolver --outputFile --rootDir --roots --testEnvironment:node,jsdom
    --env:node,jsdom --watchPlugins --filter --prettierPath --snapshotResolver --snapshotSerializers --preset --projects --testSequencer
    --testResultsProcessor --moduleNameMapper --moduleLoader --modulePaths --moduleDirectories --coverageDirectory
    --coverageProvider:v8,babel --cacheDirectory --haste --dependencyExtractor --runtime --globals`,
  gmake: "-f -C -I -E -o -W --file --makefile --eval --directory --includeDir --oldFile --tempStdin NAME=",
  knip: "-c --config --directory --preprocessor --reporter:symbols,compact,json,markdown --tsConfig --traceFile",
  make: "-f -C -I -E -o -W --file --makefile --eval --directory --includeDir --oldFile --tempStdin NAME=",
  mocha: `-r -n -O -R:${reporters} -u:bdd,tdd,qunit,exports --require --config --opts --package --file --loader --experimentalLoader
    --import --envFile --eval --reporter:${reporters} --reporterOption --reporterOptions --ui:bdd,tdd,qunit,exports --nodeOption
    --nodeOptions --inspect --inspectBrk --compilers`,
  mypy: `--pythonExecutable --configFile --installTypes --customTypeshedDir --customTypingModule --junitXml --htmlReport --txtReport
    --xmlReport --anyExprsReport --linecountReport --linecoverageReport --lineprecisionReport --coberturaXmlReport --cacheDir --shadowFile`,
  oxlint: "-c --config --plugins --jsPlugins --tsconfig --init",
  playwright: `-c codegen --config --reporter:${reporters} --output --uiHost --uiPort`,
  prettier: "--plugin --pluginSearchDir --config --cacheLocation",
  rollup: "-c: --config: -p -o -d -i --plugin --file --dir --configPlugin --watch. --input",
  ruff: "-o server --config --outputFile --cacheDir",
  tape: "-r -i --require --ignore --import --loader",
  tsc: "@ --outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile --plugins --rootDir",
  tsdown: "-c -d --config --onSuccess --outDir --publicDir --copy --fromVite --inject --tsconfig",
  tsup: "-d --config --onSuccess --outDir --publicDir --inject --plugin --tsconfig",
  vite: "-c --config --configLoader --outDir --host --root",
  vitest: `-c -r --config --root --dir --reporter:${reporters} --outputFile --outputFile. --environment:node,jsdom,happy-dom,edge-runtime
    --pool:forks,threads,vmForks,vmThreads --poolOptions --poolOptions. --execArgv --execArgv. --globalSetup --setupFiles --api --api.
    --ui --open --coverage.provider:v8,istanbul --coverage.customProviderModule --coverage.reportsDirectory
    --coverage.reporter:text,json,html,lcov,clover,text-summary,json-summary --coverage.htmlDir --typecheck.checker --typecheck.tsconfig
    --sequence.sequencer --diff --diff. --browser --browser. --configLoader --snapshotEnvironment --runner --resolver --mergeReports
    --attachmentsDir --inspect --inspectBrk --standalone`,
  xo: "--plugin --extend --config",
};

/** Those that take the head of a long name for it; the others do not. */
const takesHeads = new Set(["gmake", "make", "mypy"]);

interface Entry {
  readonly name: string;
  readonly values: readonly string[] | undefined;
}

const compiled = new Map<string, readonly Entry[]>(
  Object.entries(developerOptions).map(([program, list]) => [program, list.split(/\s+/).map(readEntry)]),
);

function readEntry(text: string): Entry {
  const [name = "", values] = text.split(":");
  return { name: /^--/.test(name) ? fold(name) : name, values: values?.split(",") };
}

/** Programs whose options are all known here. */
export function isDeveloperTool(program: string): boolean {
  return compiled.has(program);
}

/** The index of the last word, of those from `start` on, that a wildcard must not cover; undefined when there is none. */
export function lastHiddenOption(program: string, words: readonly string[], start: number): number | undefined {
  const entries = compiled.get(program) ?? [];
  for (let at = words.length - 1; at >= start; at -= 1) {
    const word = words[at] ?? "";
    const found = entries.find(({ name }) => matches(program, word, name));
    if (found !== undefined && !isHarmlessValue(word, words[at + 1], found.values)) return at;
  }
  return undefined;
}

function matches(program: string, word: string, name: string): boolean {
  if (name === "NAME=") return /^[^-].*=/s.test(word);
  if (name === "@" || name === "+") return word.startsWith(name);
  if (!name.startsWith("-")) return word === name;
  // Of these, tsc alone takes one dash before a long name, and no letters joined.
  const isLong = program === "tsc" ? /^--?[^-]/.test(word) : /^--[^-]/.test(word);
  if (name.startsWith("--")) {
    const option = fold(`--${(word.split("=", 1)[0] ?? "").replace(/^-+/, "")}`);
    if (!isLong) return false;
    if (takesHeads.has(program)) return name.startsWith(option);
    return name.endsWith(".") ? option.startsWith(name) : option === name;
  }
  return word.startsWith("-") && !word.startsWith("--") && word.includes(name.charAt(1));
}

/** `--reporter=dot`, `--reporter dot`, and `-c` before another option or at the end. */
function isHarmlessValue(word: string, next: string | undefined, values: readonly string[] | undefined): boolean {
  if (values === undefined) return false;
  const value = /^-[^=]*=(.*)$/s.exec(word)?.[1] ?? next;
  if (values[0] === "") return value === undefined || value.startsWith("-");
  return value !== undefined && values.includes(value);
}

function fold(option: string): string {
  return `--${option.replaceAll("-", "").toLowerCase()}`;
}
