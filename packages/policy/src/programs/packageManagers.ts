import type { ProgramRecord, ProgramRecords } from "./record.ts";

/** Words that people hand to the scripts of a package. */
const ofScripts = `-- --run --watch=? --coverage --fix --check --write --verbose --ci --bail --dev --host --mode= --port= -u -t= -w`;

const npmOptions = `--silent -s --if-present --ignore-scripts -w= --workspace= --workspaces -ws --include-workspace-root --no-audit --no-fund
  --omit= --include= --production --verbose --quiet -q -d --loglevel=silent|error|warn|notice|http|info|verbose|silly --json --long -l
  --depth= --dry-run --no-color --color=always --no-progress --offline --prefer-offline --legacy-peer-deps --all -a --parseable -p --`;
/** A package of a scope (`@scope/name`) is no file. */
const word = /^/;
const npm = (more = ""): ProgramRecord => ({ covers: { options: `${npmOptions} ${more}`, word } });
/** The folder's own dependencies, and no other that a word names. */
const installing: ProgramRecord = { covers: { options: npmOptions, word: /^$/ } };

const pnpm = (more = ""): ProgramRecord => ({
  covers: {
    word,
    options: `-r --recursive --filter= -F= --if-present --silent -s --no-bail --parallel --stream --sequential --workspace-concurrency=
      --aggregate-output --frozen-lockfile --prefer-offline --ignore-scripts --json --depth= --prod -P -D --long -- ${more}`,
  },
});
const yarn = (more = ""): ProgramRecord => ({
  covers: {
    word,
    options: `--silent -s --frozen-lockfile --immutable --ignore-scripts --production --json --offline -- ${more}`,
  },
});

const pipOptions = `-q --quiet -v --verbose --no-input --disable-pip-version-check --no-cache-dir --user -U --upgrade --no-deps --format=columns|freeze|json
  -o --outdated --pre -y --yes`;

export const packageManagers: ProgramRecords = {
  // npm strips every dash and takes any unique head of a command, so that these count as they are written alone.
  npm: {
    style: "words",
    source: "npm 10.8, lib/utils/cmd-list.js, @npmcli/config, nopt 7",
    versionOptions: "--version -v",
    heads: true,
    same: `i in ins inst insta instal isnt isnta isntal isntall add install, r rm un unlink remove uninstall, rum urn run-script run, t tst
      test, x exec, up upgrade udpate update, clean-install ic install-clean isntall-clean ci, it install-test, c config, ln link, ls ll la list,
      show info v view, s se find search, innit init create, author owner, ddp dedupe, -g --global, -S --save, -D --save-dev, -O
      --save-optional, -E --save-exact, -P --save-prod, -f --force, -w= --workspace=, -y --yes, -s --silent, -c= --call=`,
    commands: {
      "test t tst run run-script start stop restart": npm(ofScripts),
      "ci clean-install install i install-test it": installing,
      "audit bin dedupe ddp doctor explain why fund help-search list ll ls la outdated ping prefix prune query root search s se find stars whoami view v info show":
        npm(),
      "config create edit exec explore init link ln pkg publish set x": { covers: "nothing" },
      "": { covers: { options: "--version -v --help -h" } },
    },
  },
  pnpm: {
    style: "words",
    same: `i install, un rm uninstall remove, up upgrade update, t test, run-script run, ls list, -g --global, -D --save-dev, -O --save-optional,
      -E --save-exact, -P --production --prod, -F= --filter=, -r --recursive, -w --workspace-root, -C= --dir=, -f --force`,
    commands: {
      "test t run run-script start": pnpm(ofScripts),
      "install i": {
        ...pnpm(),
        covers: {
          options: "--frozen-lockfile --no-frozen-lockfile --prefer-offline --offline --ignore-scripts --prod -P -r",
          word: /^$/,
        },
      },
      "audit licenses list ls ll outdated why": pnpm(),
      // Its words are a program and its options.
      "config create dlx env exec init x": { covers: "nothing" },
    },
  },
  yarn: {
    style: "words",
    same: "-D --dev, -P --peer, -O --optional, -E --exact, -T --tilde",
    commands: {
      "test run start build lint": yarn(ofScripts),
      "": yarn(),
      install: yarn(),
      "audit info list outdated why": yarn(),
      "config create dlx exec init link node plugin set": { covers: "nothing" },
    },
  },
  "pip pip3": {
    same: "-r= --requirement=, -e= --editable=, -U --upgrade, -t= --target=, -i= --index-url=, -f= --find-links=, -y --yes",
    commands: {
      "check debug freeze list show": { covers: { options: pipOptions } },
      uninstall: { covers: { options: pipOptions } },
      // Packages by name, and neither a file nor an address, whose set-up would run.
      install: { covers: { options: pipOptions, word: /^[\w.-]+(?:\[[\w,-]+\])?(?:[=<>~!]=?[\w.*,<>=!-]+)?$/ } },
    },
  },
  composer: {
    same: "r req require, rm uninstall remove, u upgrade update, i install, dumpautoload dump-autoload, run run-script, -W --with-all-dependencies",
    commands: {
      "audit check-platform-reqs depends diagnose fund info licenses outdated prohibits show status suggests validate why why-not":
        {
          covers: {
            options:
              "--no-interaction -n -q --quiet -v --verbose --no-ansi --ansi --no-plugins --no-scripts --no-dev --direct -D --format=json|text",
          },
        },
      "install dump-autoload dumpautoload": {
        covers: {
          options:
            "--no-interaction -n -q --quiet --no-dev --no-scripts --no-plugins --prefer-dist --no-progress -o --optimize-autoloader",
          word: /^$/,
        },
      },
    },
  },
  brew: {
    same: "rm remove uninstall, ls list, -f --force, -n --dry-run, -s --build-from-source",
    commands: {
      "config deps desc doctor info leaves list ls outdated search uses": {
        covers: { options: "-q --quiet -v --verbose --json=? --formula --cask -1" },
      },
    },
  },
  "mvn mvnw": {
    style: "words",
    covers: {
      options: "-B --batch-mode -q --quiet -o --offline -U -e -X -DskipTests -T= --no-transfer-progress -ntp",
      // Phases, and goals of the usual plugins: two colons name any plugin.
      word: /^(?!exec:|.*-exec)[\w.-]+(?::[\w.-]+)?$/,
    },
  },
  "gradle gradlew": {
    style: "words",
    covers: {
      options:
        "--no-daemon --daemon --info --stacktrace --quiet -q --parallel --offline --continue --build-cache --no-build-cache --warn --rerun-tasks --scan -x= --tests=",
    },
  },
  gem: {
    commands: {
      "check contents dependency environment info list outdated search specification which": {
        covers: { options: "-l --local -r --remote -a --all -q --quiet" },
      },
    },
  },
  bundle: {
    commands: {
      "check info list outdated show": { covers: { options: "--quiet --verbose --paths" } },
      install: { covers: { options: "--quiet --jobs=", word: /^$/ } },
      exec: { runs: { launches: [""] } },
    },
  },
  poetry: {
    commands: {
      "check env show version": { covers: { options: "-q --quiet --tree --outdated" } },
      run: { runs: { launches: [""] } },
    },
  },
  uv: {
    commands: {
      "tree lock sync": { covers: { options: "-q --quiet --frozen --locked --check" } },
      run: { runs: { launches: [""] } },
    },
  },
};
