/** Commands as they stand in package scripts and CI files of public projects. */
export interface DeveloperCommands {
  /** A package on npm (its scripts), or a repository and the file. */
  readonly source: string;
  readonly commands: readonly string[];
}

export const developerCommands: readonly DeveloperCommands[] = [
  {
    source: "@ai-sdk/gateway",
    commands: ["pnpm clean && tsdown", "pnpm test:node && pnpm test:edge", "tsx scripts/generate-model-settings.ts"],
  },
  { source: "@arethetypeswrong/cli", commands: ["npm install -g ."] },
  { source: "@arethetypeswrong/core", commands: ["node scripts/createSnapshotFixture.js"] },
  { source: "@clack/prompts", commands: ["vitest run"] },
  {
    source: "@colors/colors",
    commands: ["export FORCE_COLOR=1 && node tests/basic-test.js && node tests/safe-test.js"],
  },
  { source: "@copilotkit/aimock", commands: ["husky || true", "vitest run --config vitest.config.drift.ts"] },
  { source: "@google/genai", commands: ["echo 'prebuild: no-op'"] },
  {
    source: "@jridgewell/gen-mapping",
    commands: [
      "eslint '{src,test}/**/*.ts'",
      "mocha",
      "prettier --check '{src,test}/**/*.ts'",
      "run-s -n build:code build:types",
      "cd benchmark && npm install",
    ],
  },
  { source: "@jridgewell/resolve-uri", commands: ["run-s -n build:*"] },
  { source: "@langchain/core", commands: ["rm -rf .turbo dist/", "vitest watch"] },
  { source: "@langchain/langgraph", commands: ["pnpm turbo build:internal --filter=@langchain/langgraph"] },
  {
    source: "@langchain/langgraph-checkpoint",
    commands: ["NODE_OPTIONS=--max-old-space-size=4096 eslint --cache --ext .ts,.js src/"],
  },
  { source: "@loaderkit/resolve", commands: ["rm -rf dist"] },
  { source: "@modelcontextprotocol/client", commands: ["pnpm run typecheck && pnpm run lint"] },
  { source: "@nodelib/fs.scandir", commands: ["rimraf {tsconfig.tsbuildinfo,out}"] },
  { source: "@openai/agents-realtime", commands: ["vite build"] },
  {
    source: "@opentelemetry/api",
    commands: [
      "eslint . && npm run cycle-check",
      "karma start --single-run",
      "node test/backcompat/node8-compat.js",
      "nyc mocha 'test/**/*.test.ts'",
    ],
  },
  {
    source: "@sec-ant/readable-stream",
    commands: ["biome format . --write", "changeset version 2>/dev/null | grep . && npm i; exit 0"],
  },
  { source: "@standard-schema/spec", commands: ["pnpm biome check ./src", "pnpm biome lint ./src", "tsup"] },
  { source: "@stryker-mutator/instrumenter", commands: ["c8 npm run mocha"] },
  {
    source: "@vercel/oidc",
    commands: [
      "node ../../utils/build.mjs",
      "pnpm run build:code",
      "pnpm run build:code && pnpm run build:docs",
      "vitest",
      "typedoc && prettier --write docs/**/*.md docs/*.md",
    ],
  },
  {
    source: "@vitest/istanbul-lib-report",
    commands: ["pnpm --filter @vitest/istanbuljs-monorepo run test --project @vitest/istanbul-lib-report"],
  },
  { source: "@vitest/mocker", commands: ["rollup -c --watch"] },
  { source: "@workflow/serde", commands: ["tsc", "tsc --build --clean && rm -rf dist", "tsc --noEmit"] },
  {
    source: "BurntSushi/ripgrep ci.yml",
    commands: [
      "cargo fmt --all --check",
      "cargo build --verbose",
      "cargo doc --no-deps --document-private-items --workspace",
      "rustup target add wasm32-wasi",
    ],
  },
  { source: "RooCodeInc/Roo-Code apps/web-evals/package.json", commands: ["next build"] },
  {
    source: "RooCodeInc/Roo-Code changeset-release.yml",
    commands: [
      'NEW_CHANGESETS=$(find .changeset -name "*.md" ! -name "README.md" | wc -l | tr -d \' \')',
      'git commit -m "Updating CHANGELOG.md format"',
      'git config user.name "R00-B0T"',
    ],
  },
  {
    source: "RooCodeInc/Roo-Code cli-release.yml",
    commands: [
      'find artifacts -name "*.sha256" -exec cp {} release/ \\;',
      'gh release delete "$TAG" --yes || true',
      "ls -la release/",
    ],
  },
  {
    source: "RooCodeInc/Roo-Code evals.yml",
    commands: [
      "docker compose down -v --remove-orphans",
      "docker compose up -d db redis",
      "docker tag evals-runner:latest evals-runner",
    ],
  },
  {
    source: "RooCodeInc/Roo-Code package.json",
    commands: [
      "knip --include files",
      "cp CHANGELOG.md src/CHANGELOG.md && changeset version && cp -vf src/CHANGELOG.md .",
      "turbo lint --log-order grouped --output-logs new-only",
      "turbo test --log-order grouped --output-logs new-only",
    ],
  },
  {
    source: "RooCodeInc/Roo-Code src/package.json",
    commands: ["cd .. && tsc --noEmit --watch --project src/tsconfig.json"],
  },
  { source: "acorn", commands: ["cd ..; npm run build:main"] },
  { source: "ajv", commands: ["AJV_FULL_TEST=true npm test"] },
  { source: "ansi-escapes", commands: ["ava && tsd"] },
  { source: "any-promise", commands: ["ava"] },
  { source: "assertion-error", commands: ["deno bundle mod.ts > index.js", "deno test --coverage=coverage"] },
  {
    source: "ast-v8-to-istanbul",
    commands: [
      "oxlint --type-aware && oxfmt --check && publint",
      "pnpm build; pnpm lint; pnpm typecheck; pnpm run test --run",
    ],
  },
  {
    source: "astral-sh/uv ci.yml",
    commands: [
      "cargo clippy --workspace --all-targets --all-features --locked -- -D warnings",
      'npx prettier --check "**/*.{json5,yaml,yml}"',
      "uvx ruff check .",
      "uvx mypy",
      "cargo nextest run \\\n  --features python-patch \\\n  --workspace \\\n  --no-fail-fast -j 20",
      "cargo build --target x86_64-unknown-linux-musl --bin uv --bin uvx",
    ],
  },
  { source: "async-function", commands: ['npx npm@">=10.2" audit --production'] },
  {
    source: "aws/amazon-q-developer-cli rust.yml",
    commands: [
      "cargo +nightly fmt --check -- --color always",
      "cargo clippy --locked --workspace --color always -- -D warnings",
      "cargo test --locked --workspace --lib --bins --test '*' --exclude fig_desktop-fuzz",
    ],
  },
  { source: "aws/amazon-q-developer-cli terminal-bench.yaml", commands: ["pip install terminal-bench"] },
  {
    source: "baseline-browser-mapping",
    commands: ["npx eslint .", "npx jasmine", "npx prettier --check .", "npx tsx scripts/refresh-static.ts"],
  },
  { source: "buffer", commands: ["browserify -r ./ | uglifyjs -c -m | gzip | wc -c"] },
  { source: "bundle-require", commands: ["tsup src/index.ts --format esm,cjs --dts-resolve --target node12.20.0"] },
  { source: "chalk", commands: ["xo && nyc ava && tsd"] },
  { source: "char-regex", commands: ["yarn lint && ava"] },
  {
    source: "cjs-module-lexer",
    commands: [
      "make && npm run build",
      "make lib/lexer.wasm ; node build.js",
      "mocha -b -u tdd test/*.js",
      "node build.js ; babel dist/lexer.mjs -o dist/lexer.js ; terser dist/lexer.js -o dist/lexer.js",
      "npm run build && cat dist/lexer.js | gzip -9f | wc -c",
      "npm run test-wasm ; npm run test-wasm-sync ; npm run test-js",
    ],
  },
  { source: "cli-table3", commands: ["jest --color --watchAll --notify"] },
  {
    source: "cline/cline apps/examples/desktop-app/package.json",
    commands: ["mkdir -p dist/sidecar && bun build ./sidecar/index.ts --outfile ./dist/sidecar/index.js --target bun"],
  },
  {
    source: "cline/cline cli-publish.yml",
    commands: ["bun install", "bun run build:sdk", "bun run test", "cat apps/cli/package.json | grep '\"version\"'"],
  },
  { source: "cline/cline desktop-publish.yml", commands: ["cat dist/desktop/latest.json"] },
  { source: "cline/cline ext-vscode-ab-package.yml", commands: ["cd webview-ui"] },
  {
    source: "cline/cline ext-vscode-publish-legacy.yml",
    commands: ['PREV_TAG=$(git describe --tags --abbrev=0 "$CURRENT_TAG^" 2>/dev/null || echo "")'],
  },
  { source: "cline/cline ext-vscode-test-e2e.yml", commands: ["sudo apt-get update && sudo apt-get install -y xvfb"] },
  {
    source: "commander",
    commands: [
      'eslint index.js esm.mjs "lib/*.js" "tests/**/*.js"',
      "eslint typings/*.ts tests/*.ts",
      "jest && npm run check:type:ts",
      "npm run lint:javascript && npm run lint:typescript",
      "npm run test && npm run lint && npm run typescript-checkJS && npm run test-esm",
      "tsd && tsc -p tsconfig.ts.json",
    ],
  },
  { source: "convert-source-map", commands: ["tap test/*.js --color"] },
  {
    source: "cross-spawn",
    commands: ["git push --follow-tags origin HEAD && npm publish", "jest --env node --coverage"],
  },
  { source: "debug", commands: ["cat ./coverage/lcov.info | coveralls"] },
  { source: "diff", commands: ["yarn run-tsd && yarn run-attw"] },
  { source: "environment", commands: ["xo && ava && tsc index.d.ts"] },
  { source: "eventemitter3", commands: ["find benchmarks/run -name '*.js' -exec benchmarks/start.sh {} \\;"] },
  {
    source: "eventsource-parser",
    commands: [
      "bun test",
      "knip",
      "node --experimental-strip-types --no-warnings=ExperimentalWarning scripts/bundle-size.ts",
      "npm run build",
      "npm run clean",
      "npm run clean && npm run format && npm run lint && npm run build && vitest run",
      "npm run lint",
      "npm run test:node",
      "oxlint && tsc --noEmit",
    ],
  },
  { source: "expect-type", commands: ["attw --pack"] },
  { source: "fast-check", commands: ["api-extractor run --local"] },
  { source: "fast-wrap-ansi", commands: ["npx tsc --noEmit -p tsconfig.test.json", "prettier --write src test"] },
  { source: "fflate", commands: ["node -r ts-node/register scripts/$SC.ts", "npm run build && npm run test"] },
  { source: "flru", commands: ["tape test/*.js | tap-spec"] },
  { source: "formatly", commands: ["husky"] },
  { source: "gensync", commands: ["jest"] },
  {
    source: "google-auth-library",
    commands: ["mocha build/system-test --timeout 60000", "cd samples/ && npm link ../ && npm test && cd ../"],
  },
  { source: "google-gemini/gemini-cli build-unsigned-mac-binaries.yml", commands: ["ls -R dist/"] },
  { source: "google-gemini/gemini-cli chained_e2e.yml", commands: ["mkdir -p ./pr"] },
  {
    source: "google-gemini/gemini-cli ci.yml",
    commands: ["TARBALL=$(npm pack | tail -n 1)", "git diff --exit-code packages/vscode-ide-companion/NOTICES.txt"],
  },
  { source: "google-gemini/gemini-cli eval-pr.yml", commands: ["cat eval_regression_report.md"] },
  { source: "google-gemini/gemini-cli evals-nightly.yml", commands: ["mkdir -p evals/logs"] },
  {
    source: "google-gemini/gemini-cli gemini-cli-bot-brain.yml",
    commands: ["git diff --staged > bot-changes.patch", "touch bot-changes.patch"],
  },
  {
    source: "google-gemini/gemini-cli gemini-scheduled-issue-triage.yml",
    commands: ["sudo apt-get install -y ripgrep"],
  },
  {
    source: "google-gemini/gemini-cli package.json",
    commands: [
      "CODER_AGENT_PORT=41242 npm run start --workspace @google/gemini-cli-a2a-server",
      'cross-env NODE_OPTIONS="--max-old-space-size=8192" eslint . --cache --max-warnings 0',
    ],
  },
  {
    source: "google-gemini/gemini-cli release-promote.yml",
    commands: ["git add package.json packages/*/package.json"],
  },
  { source: "google-gemini/gemini-cli tools-python-ci.yml", commands: ["python -m pip install --upgrade pip"] },
  { source: "hasown", commands: ["attw -P"] },
  { source: "human-id", commands: ["rm -rf ./dist && tsc"] },
  { source: "iconv-lite", commands: ["mocha --reporter spec --check-leaks --grep ."] },
  { source: "ignore", commands: ["IGNORE_ONLY_IGNORES=1 npm run tap test/ignore.test.js"] },
  { source: "isexe", commands: ["git push origin --all; git push origin --tags"] },
  { source: "jju", commands: ["make lint", "make test"] },
  { source: "joycon", commands: ["babel src -d lib --no-comments"] },
  { source: "js-tiktoken", commands: ["rm -rf dist && tsup && cp -R src/ranks dist/ranks"] },
  {
    source: "json-schema-to-ts",
    commands: [
      "NODE_ENV=cjs yarn transpile --out-dir lib/cjs --source-maps",
      "jest --verbose --runInBand --collectCoverage --logHeapUsage --passWithNoTests",
      "ts-node scripts/setPackageVersion",
      "yarn prettier . --check",
    ],
  },
  { source: "knip", commands: ["oxlint"] },
  {
    source: "lightningcss",
    commands: ["cargo run --example schema --features jsonschema && node scripts/build-ast.js"],
  },
  {
    source: "lilconfig",
    commands: ["NODE_OPTIONS=--experimental-vm-modules ./node_modules/.bin/jest --coverage", "biome ci ./src"],
  },
  {
    source: "lru-cache",
    commands: [
      "git push origin --follow-tags",
      "make -C benchmark",
      "oxlint --fix src test",
      "prettier --write .",
      "npm publish",
      "npm test",
    ],
  },
  { source: "magicast", commands: ["TEST_BUILD=true vitest"] },
  {
    source: "marked",
    commands: [
      "eslint --fix .",
      "eslint .",
      "git checkout upstream/master lib/marked.cjs lib/marked.umd.js lib/marked.esm.js marked.min.js",
      "rollup -c rollup.config.js",
      "npm test && npm run test:umd && npm run test:types && npm run test:lint",
      "npm test -- test/unit/**/*-spec.js",
    ],
  },
  {
    source: "marked-terminal",
    commands: ["rollup -c", "cross-env FORCE_HYPERLINK=0 mocha tests/*.js --reporter spec"],
  },
  { source: "minimalistic-assert", commands: ['echo "Error: no test specified" && exit 1'] },
  {
    source: "mutation-testing-elements",
    commands: [
      "playwright test",
      "playwright test --update-snapshots",
      "vite build && cross-env IIFE_BUILD=true vite build",
    ],
  },
  { source: "node-fetch", commands: ["c8 report --reporter=text-lcov | coveralls"] },
  { source: "obug", commands: ["eslint --cache .", "prettier --cache --write .", "vitest --project node --coverage"] },
  { source: "oxc-parser", commands: ["publint"] },
  { source: "pallets/flask tox.ini", commands: ["coverage run -p -m pytest tests examples", "coverage combine"] },
  { source: "picomatch", commands: ["mocha --reporter dot", "nyc npm run mocha"] },
  { source: "protobufjs", commands: ["nyc report --reporter=lcov --reporter=text"] },
  { source: "psf/requests run-tests.yml", commands: ["make ci", 'python -m pip install "urllib3<2"'] },
  {
    source: "rails/rails lint.yml",
    commands: [
      "wget -O - -q https://git.io/misspell | sh -s -- -b .",
      "git ls-files --empty-directory | xargs ./misspell -i 'aircrafts,devels,invertions' -error",
    ],
  },
  { source: "readable-stream", commands: ["TAP=1 tap --no-esm test/parallel/*.js test/ours/*.js | tee test.tap"] },
  {
    source: "redis/redis ci.yml",
    commands: [
      "make REDIS_CFLAGS='-Werror' BUILD_TLS=yes",
      "./runtest --verbose --tags -slow --dump-logs",
      "sudo apt-get update && sudo apt-get install libc6-dev-i386",
    ],
  },
  { source: "reusify", commands: ["c8 --100 tape test.js"] },
  { source: "rolldown", commands: ["publint ."] },
  { source: "rollup", commands: ["cd rust && cargo fmt --check && cargo clippy"] },
  { source: "safe-buffer", commands: ["standard && tape test/*.js"] },
  {
    source: "safer-buffer",
    commands: ["browserify --external tape tests.js > browserify-tests.js && tape browserify-tests.js"],
  },
  { source: "semver", commands: ['eslint "**/*.{js,cjs,ts,mjs,jsx,tsx}"', "npm run eslint -- --fix"] },
  {
    source: "source-map",
    commands: [
      "git submodule update --init --recursive; node test/run-tests.js",
      "c8 --reporter=text --reporter=html npm test",
    ],
  },
  { source: "standardwebhooks", commands: ["biome check", "biome check --write", "tsc && node --test dist/*.test.js"] },
  { source: "tinyexec", commands: ["prettier --check src", "tsc --noEmit && eslint src && publint"] },
  { source: "tinyglobby", commands: ["biome lint"] },
  { source: "ts-algebra", commands: ["bash scripts/release.bash"] },
  { source: "typed-inject", commands: ["rimraf dist"] },
  { source: "typescript", commands: ["hereby runtests-parallel --light=false"] },
  { source: "undici", commands: ['borp --timeout 180000 -p "test/busboy/*.js"', "c8 report"] },
  {
    source: "unicode-emoji-modifier-base",
    commands: ["curl http://unicode.org/Public/emoji/3.0/emoji-data.txt > data/emoji-data.txt"],
  },
  { source: "verkit", commands: ["vitest bench --run --experimental.viteModuleRunner=false"] },
  { source: "vite", commands: ["oxlint src"] },
  {
    source: "vuejs/core package.json",
    commands: [
      "tsc -p tsconfig.build.json --noCheck && rollup -c rollup.dts.config.js",
      "rimraf --glob packages/*/dist temp .eslintcache",
      "tsc --incremental --noEmit",
      "vitest --project unit*",
      "node scripts/build.js vue -f global -d && vitest --project e2e",
    ],
  },
  { source: "which", commands: ["git add CHANGELOG.md"] },
  {
    source: "ws",
    commands: [
      "mocha --throw-deprecation test/*.integration.js",
      "nyc --reporter=lcov --reporter=text mocha --throw-deprecation test/*.test.js",
    ],
  },
  {
    source: "yaml",
    commands: [
      "git clean -fdxe node_modules",
      "jest --config config/jest.config.js",
      "rollup --sourcemap -c config/rollup.node-config.mjs",
      "cd playground && npm test",
      "tsc --noEmit && tsc --noEmit -p tests/tsconfig.json",
    ],
  },
  { source: "yargs", commands: ["rimraf build && tsc"] },
];

/** What somebody who works on such projects would allow. */
export const developerRules: readonly string[] = `
npm test *
npm run *
npm ci
pnpm test *
pnpm run *
pnpm build
pnpm lint
pnpm typecheck
yarn test *
yarn lint *
yarn build *
bun run *
bun test *
tsc *
npx tsc *
tsd *
eslint *
npx eslint *
xo *
standard *
oxlint *
oxfmt *
biome *
prettier *
npx prettier *
vitest *
jest *
mocha *
ava *
tap *
tape *
borp *
playwright test *
c8 report
c8 report --reporter=text-lcov
nyc report --reporter=lcov --reporter=text
rollup *
tsup *
tsdown *
vite build *
next build
turbo *
knip *
publint *
attw *
api-extractor run *
typedoc *
make *
cargo build *
cargo test *
cargo nextest *
cargo clippy *
cargo fmt *
cargo doc *
cargo +nightly fmt *
deno test *
uvx ruff *
uvx mypy *
`
  .trim()
  .split("\n")
  .map((command) => `run_bash(${command})`);
