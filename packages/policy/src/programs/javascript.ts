import type { Covering, ProgramRecord, ProgramRecords } from "./record.ts";

/** Makes the record of a JavaScript tool. Their parsers join no letters, and each has options that load a file, which are not here. */
const tool = (options: string, more: Covering = {}): ProgramRecord => ({
  style: "words",
  covers: { options, ...more },
});

const reporters = "default|verbose|basic|dot|spec|min|tap|tap-flat|list|line|json|junit|tree|nyan|progress|github";
const formats = "stylish|json|html|json-with-metadata|compact|unix";
const bundling = `--format= --target= --minify --watch -w --sourcemap=? --clean --dts --no-dts --dts-resolve --dts-only --splitting --no-splitting --treeshake --silent
  --platform=node|browser|neutral --external= --metafile --shims`;

const vitest = `--run --watch -w --no-watch --coverage --coverage.enabled=? --coverage.provider=v8|istanbul
  --coverage.reporter=text|json|html|lcov|clover|text-summary|json-summary -t= --testNamePattern= --project= --reporter=${reporters} --bail=
  --changed=? --silent --passWithNoTests --no-color --color --typecheck --typecheck.enabled --typecheck.only --environment=node|jsdom|happy-dom
  --pool=forks|threads|vmForks|vmThreads --retry= --testTimeout= --hookTimeout= --update -u --isolate --no-isolate --no-file-parallelism
  --fileParallelism=? --maxWorkers= --minWorkers= --globals --shard= --logHeapUsage --hideSkippedTests --clearScreen=? --related
  --allowOnly --dom --expandSnapshotDiff --experimental.viteModuleRunner=? --sequence.shuffle --sequence.seed= --exclude= --cache=? --no-cache`;

export const javascript: ProgramRecords = {
  ava: tool(
    "--match= -m= --watch -w --verbose -v --tap -t --serial -s --fail-fast --timeout= -T= --concurrency= -c= --update-snapshots -u --color --no-color",
  ),
  eslint: tool(
    `--fix --fix-dry-run --fix-type= --cache --no-cache --ext= --max-warnings= --quiet --ignore-pattern= --no-ignore --color --no-color
    --report-unused-disable-directives --report-unused-disable-directives-severity= --no-error-on-unmatched-pattern --rule= --env=
    --global= --no-inline-config --no-warn-ignored --pass-on-no-patterns --cache-strategy=metadata|content --format=${formats} -f=${formats} --
    --exit-on-fatal-error --concurrency= --stats --debug --prune-suppressions --suppress-all --suppress-rule= --version -v --help -h`,
  ),
  jest: tool(
    `--coverage=? --collectCoverage -t= --testNamePattern= --verbose --runInBand -i --detectOpenHandles --detectLeaks --forceExit --ci
    --watch --watchAll=? --bail=? -b --silent --updateSnapshot -u --onlyChanged -o --changedSince= --findRelatedTests --passWithNoTests
    --testPathPattern= --testPathPatterns= --testPathIgnorePatterns= --maxWorkers= -w= --colors --color --no-color --no-cache --cache=?
    --clearCache --listTests --json --expand --errorOnDeprecated --reporters=default|summary|github-actions|agent
    --testEnvironment=node|jsdom --env=node|jsdom --coverageProvider=v8|babel --shard= --testTimeout= --randomize --seed= --noStackTrace
    --lastCommit --logHeapUsage --notify --onlyFailures -f --showConfig --selectProjects --no-coverage --workerThreads
    --coverageReporters=text|json|html|lcov|clover|text-summary|json-summary --injectGlobals=? --openHandlesTimeout= --`,
  ),
  knip: tool(
    `--production --strict --include= --exclude= --dependencies --exports --files --fix --fix-type= --no-exit-code --no-progress --no-config-hints
    --reporter=symbols|compact|json|markdown --workspace= -W= --include-entry-exports --max-issues= --cache --debug --watch
    --allow-remove-files --format --isolate-workspaces --no-gitignore --performance --treat-config-hints-as-errors`,
  ),
  mocha: tool(
    `--reporter=${reporters} -R=${reporters} --ui=bdd|tdd|qunit|exports -u=bdd|tdd|qunit|exports --check-leaks --grep= -g= --fgrep=
    -f= --invert -i --timeout= -t= --slow= -s= --bail -b --exit --recursive --parallel -p --jobs= -j= --retries= --forbid-only
    --forbid-pending --color --colors -c --no-colors --no-color --full-trace --watch -w --extension= --ignore= --sort -S --async-only -A
    --delay --diff --no-diff --inline-diffs --no-timeout --no-timeouts --spec= --throw-deprecation --trace-warnings --enable-source-maps
    --experimental-vm-modules --expose-gc --allow-uncaught --dry-run --fail-zero --no-package --no-config`,
  ),
  oxlint: tool(
    `--fix --fix-suggestions --fix-dangerously -D= --deny= -A= --allow= -W= --warn= --quiet --deny-warnings --max-warnings= --type-aware
    --ignore-pattern= --no-ignore -f=default|unix|json|github|stylish --format=default|unix|json|github|stylish --silent --threads=
    --import-plugin --react-plugin --jsdoc-plugin --jest-plugin --vitest-plugin --node-plugin --promise-plugin --nextjs-plugin
    --disable-nested-config --report-unused-disable-directives`,
  ),
  playwright: {
    commands: {
      test: tool(
        `--headed --project= --grep= -g= --grep-invert= --reporter=${reporters} --workers= -j= --retries= --timeout= --update-snapshots=? -u
        --list --last-failed --max-failures= -x --quiet --shard= --repeat-each= --forbid-only --fully-parallel --trace=on|off|retain-on-failure
        --pass-with-no-tests --global-timeout= --ignore-snapshots --only-changed=? --no-deps --debug`,
      ),
      "show-report": tool(""),
      "install install-deps": tool("--with-deps --dry-run --force --only-shell"),
    },
  },
  prettier: tool(
    `--check -c --write -w --list-different -l --cache --no-cache --ignore-unknown -u --log-level= --loglevel= --no-config --no-editorconfig
    --ignore-path= --print-width= --tab-width= --use-tabs --single-quote --no-semi --trailing-comma= --end-of-line=
    --parser=babel|babel-ts|typescript|flow|espree|acorn|css|scss|less|json|json5|markdown|mdx|html|vue|yaml|graphql --no-color
    --no-error-on-unmatched-pattern --with-node-modules --prose-wrap= --cache-strategy=metadata|content --insert-pragma --require-pragma
    --stdin-filepath= --experimental-cli --`,
  ),
  rollup: tool(
    "-c=! --config=! --watch -w --silent --environment= --sourcemap -m --bundleConfigAsCjs --failAfterWarnings --strictDeprecations --no-treeshake --perf",
  ),
  tape: tool("--no-only --strict --only -o"),
  // Names by one dash or two; capitals count here, though not for tsc.
  tsc: tool(
    `-p= --project= --noEmit -noEmit -b --build --clean --force --verbose -v --watch -w -W --pretty --noCheck --incremental --emitDeclarationOnly
    --declaration -d --declarationMap --sourceMap --inlineSourceMap --noEmitOnError --skipLibCheck --strict --allowJs --checkJs --listFiles
    --listFilesOnly --listEmittedFiles --extendedDiagnostics --diagnostics --explainFiles --traceResolution --showConfig --preserveWatchOutput
    --target= -t= --module= -m= --moduleResolution= --lib= --jsx= --esModuleInterop --resolveJsonModule --isolatedModules
    --noUnusedLocals --noUnusedParameters --noImplicitAny --removeComments --importHelpers --stopBuildOnErrors --dry --init --help -h
    --version --all --composite=? --incremental=? --declaration=? --noEmit=? --pretty=? --locale= --types= --strictNullChecks`,
    { word: /^[^@]/ },
  ),
  "tsdown tsup": tool(bundling),
  vite: tool(
    `--mode= -m= --port= --open=? --cors --strictPort --force --minify=? --sourcemap=? --watch -w --emptyOutDir --ssr=? --base= --logLevel= -l= --clearScreen --debug=?
    -d=? --profile --manifest=? --ssrManifest=?`,
  ),
  vitest: tool(vitest),
  webpack: tool(
    "--mode=development|production|none --watch -w --progress --color --no-color --json --stats= --devtool= -d=",
  ),
  xo: tool("--fix --quiet --ignore= --space=? --no-semicolon --semicolon=? --prettier --print-config= --open"),
  esbuild: tool(
    "--bundle --minify --sourcemap --format=esm|cjs|iife --platform=node|browser|neutral --target= --watch --log-level= --tree-shaking=true",
  ),
};
