import type { Covering, ProgramRecord, ProgramRecords } from "./record.ts";

const tool = (options: string, more: Covering = {}): ProgramRecord => ({ covers: { options, ...more } });

const cargoOptions = `-r --release --workspace --all --all-targets --all-features --no-default-features -F= --features= -p= --package= --exclude=
  --lib --bins --bin= --examples --example= --tests --test= --benches --bench= --doc --no-run --no-fail-fast -j= --jobs= -v --verbose -q --quiet
  --locked --frozen --offline --message-format=human|short|json --color=auto|always|never --profile= --keep-going --check --no-deps
  --document-private-items --fix --allow-dirty --allow-staged --ignore-rust-version --timings --future-incompat-report --depth= --dry-run
  --archive-file= -- -D= -W= -A= --no-capture --nocapture --status-level= --retries= --run-ignored= --target=`;
/** A JSON file as target names the linker. */
const cargo = tool(cargoOptions, { word: /^(?!.*\.json$)/ });
const cargoCommands: ProgramRecords = {
  "": tool("--version -V --list"),
  "b bench build c check clean clippy d doc fix fmt metadata nextest r run t test tree update verify-project vendor":
    cargo,
  "search info": tool("--limit= -q"),
  fetch: tool("--locked --offline"),
};

const goOptions = `-v -x -n -race -a -count= -run= -bench= -benchtime= -benchmem -cover -covermode=set|count|atomic -coverpkg= -cpu= -failfast -fuzz=
  -fuzztime= -json -list= -parallel= -short -shuffle= -skip= -timeout= -tags= -mod=readonly|vendor -p= -trimpath -buildvcs=? -f= -m -u -e -deps -test
  -msan -asan -work -c -i`;
/**
 * Makes the record of a go subcommand: not a package at a version, which go would load. Single dash and long names; two dashes are the same
 * to go, but not listed.
 */
const go = (more = ""): ProgramRecord => ({
  covers: { options: `${goOptions} ${more}`, word: /^[^@]*$/ },
});

/** Tools of Rust, Go, Python and others. */
export const languages: ProgramRecords = {
  cargo: {
    style: "words",
    same: "b build, c check, r run, t test, d doc, rm remove, -p= --package=, -r --release, -j= --jobs=, -Z=",
    commands: { ...cargoCommands, "+beta +nightly +stable": { commands: cargoCommands } },
  },
  rustc: tool("--version -V --explain= --edition= --crate-type= --test -O -g --print=cfg|target-list|sysroot"),
  rustfmt: tool("--check --edition= -l -v -q"),
  go: {
    style: "words",
    commands: {
      "build clean fmt install list test vet": go(),
      "doc version env": {
        covers: { options: "-all -short -src -u -c -cmd -json -m -v", word: /^[^=]*$/ },
      },
      mod: { commands: { "download graph tidy verify why": go() } },
    },
  },
  gofmt: { style: "words", covers: { options: "-d -l -s -e" } },
  "py.test pytest": tool(
    `-x --exitfirst -q --quiet -v --verbose -s -l --showlocals -k= -m= --maxfail= --lf --last-failed --ff --failed-first --nf --new-first --sw
    --stepwise -n= --numprocesses= --tb=auto|long|short|line|native|no --durations= --co --collect-only --cov=? --cov-branch --cov-fail-under= --no-cov
    --cov-report=term|term-missing|term:skip-covered|term-missing:skip-covered -r= --color=yes|no|auto --no-header --no-summary --strict-markers
    --strict-config --disable-warnings --disable-pytest-warnings --timeout= --markers --fixtures --ignore= --ignore-glob= --deselect= --capture=
    --runxfail --setup-show --setup-only --setup-plan --doctest-modules --dist= --version -V -h --help`,
  ),
  mypy: tool(
    `--strict --ignore-missing-imports --show-error-codes --hide-error-codes --pretty -v --verbose -p= --package= -m= --module= --python-version= --exclude=
    --no-incremental --explicit-package-bases --namespace-packages --no-error-summary --warn-unused-ignores --warn-return-any
    --warn-unreachable --disallow-untyped-defs --check-untyped-defs --platform= --no-color-output --show-column-numbers --no-strict-optional
    --follow-imports=normal|silent|skip|error --enable-error-code= --disable-error-code= --show-absolute-path -V --version`,
  ),
  ruff: {
    commands: {
      "check format": tool(
        `--fix --unsafe-fixes --no-unsafe-fixes --check --diff --select= --ignore= --extend-select= --extend-ignore= --watch -w -q --quiet -v --verbose
        --no-cache -n --show-fixes --statistics --output-format= --target-version= --line-length= --preview --exit-zero --exclude= --no-fix -s
        --silent --isolated -e --fix-only --no-respect-gitignore --force-exclude --ignore-noqa`,
      ),
      "rule config linter version": tool("--all --output-format="),
    },
  },
  terraform: {
    style: "words",
    commands: {
      "fmt graph output providers show state validate version": {
        covers: { options: "-json -no-color -check -diff -recursive -raw" },
      },
      plan: {
        covers: {
          options: "-no-color -input=false -destroy -refresh=? -target= -lock=? -compact-warnings -detailed-exitcode",
        },
      },
    },
  },
};
