import type { ProgramRecord, ProgramRecords } from "./record.ts";

/** The suffix in `-pi.old`. */
const keeps = /^-[A-Za-z]*?i(.+)$/s;

const running = (plain: string, code: string, more: ProgramRecord["runs"] = {}): ProgramRecord => ({
  runs: { plain, code, ...more },
});
/** Makes the record of a launcher, which looks a program up and runs it. */
const launching = (plain: string, code = ""): ProgramRecord =>
  running(plain, code, { launches: ["", ...code.split(" ")] });

/** Options of shells before a script. */
export const shellOptions = `-a -b -e -f -h -i -k -l -m -n -p -r -t -u -v -w -x -B -C -E -H -I -P -T -V -o= -O= +e +u +x +o +O --norc --noprofile
  --posix --login --restricted --verbose --noediting --rcfile= --init-file=`;

/** Options of Node.js before a script, of those that people pass; the others may take the next word. */
const nodeOptions = `-r= --require= --import= --loader= --experimental-loader= -C= --conditions= --env-file= --title= --input-type= --stack-trace-limit=
  --disable-warning= --unhandled-rejections= --watch-path= --inspect-port= --icu-data-dir= --openssl-config= --diagnostic-dir= --no-warnings
  --no-deprecation --trace-warnings --trace-deprecation --trace-uncaught --throw-deprecation --enable-source-maps --preserve-symlinks --expose-gc
  --expose_gc --inspect=? --inspect-brk=? --inspect-wait=? --prof --cpu-prof --heap-prof --watch --harmony --strip-types --no-strip-types --permission
  --experimental-strip-types --experimental-transform-types --experimental-vm-modules --experimental-sqlite --experimental-test-coverage
  --test-force-exit --abort-on-uncaught-exception --use-strict --interpreted-frames-native-stack --no-addons`;
const ofNode: Pick<ProgramRecord, "fromInput"> = {
  fromInput: { options: nodeOptions, always: "-i --interactive", never: "-c --check --test --v8-options -v --version" },
};

/** Programs that run a file or a text of theirs, or the program that their words name. */
export const interpreters: ProgramRecords = {
  bun: {
    ...running("", "-e -p --eval --print run x test exec", { launches: ["x"] }),
    same: "i install, a add, rm remove, -g --global, -d -D --development --dev, -E --exact, -f --force, -e --eval, -p --print",
  },
  "bunx npx pnpx uvx": { ...launching("-y --yes --no-install --no"), same: "-y --yes, -p= --package=, -c= --call=" },
  corepack: running("", ""),
  deno: {
    commands: {
      "check doc info lint fmt types": { covers: { options: "--check --quiet -q --json --no-lock" } },
      test: { covers: { options: "--quiet -q --parallel --fail-fast=? --filter=?" } },
    },
  },
  java: running("-ea", "-jar"),
  "node nodejs": {
    ...running("--test --check --watch", "-e -p --eval --print"),
    ...ofNode,
    versionOptions: "--version -v",
    same: "-e= --eval=, -p= --print=, -r= --require=, -c --check, -i --interactive",
  },
  perl: {
    ...running("-w", "-e -E"),
    keeps,
    fromInput: {
      options: `-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -a -c -l -n -p -s -S -t -T -u -U -w -W -X -f -I= -C=? -d=? -D=? -F=? -i=? -m=? -M=? -x=?`,
      never: "-v -V=?",
    },
  },
  php: {
    ...running("", "-r -f -l"),
    fromInput: {
      options: "-c= -d= -z= -t= -n -e -q -C -H -s -w --no-php-ini --php-ini= --define= --no-header",
      always: "-a --interactive",
      never: "-v -i -m -S= -B= -R= -E= -F= --ini --version --info --modules --run= --file= --syntax-check --server=",
    },
  },
  pipx: launching("", "run"),
  "python python2 python3": {
    ...running("-u -B -I -E -s", "-c -m", { launches: ["-m"] }),
    fromInput: {
      options: "-b -B -d -E -I -O -P -q -s -S -u -v -x -W= -X= --check-hash-based-pycs=",
      always: "-i",
    },
    versionOptions: "--version -V",
  },
  ruby: {
    ...running("-w", "-e"),
    keeps,
    fromInput: {
      options: `-0 -1 -2 -3 -4 -5 -6 -7 -a -c -l -n -p -s -S -w -U -v -I= -r= -C= -X= -E= -F=? -i=? -K=? -T=? -W=? -x=? --encoding= --external-encoding=
        --internal-encoding= --enable= --disable= --yjit --jit --verbose --debug -d`,
      never: "--version --copyright",
    },
  },
  "ts-node": {
    ...running("", "-e -p"),
    fromInput: {
      options: `-r= --require= -P= --project= -O= --compiler-options= -C= --compiler= -I= --ignore= -D= --ignore-diagnostics= --cwd= --cwd-mode -T
        --transpile-only --type-check -H --compiler-host --files --pretty -s --script-mode --esm --swc --log-error --prefer-ts-exts --skip-project
        --skip-ignore --show-config --emit --scope --scope-dir=`,
      always: "-i --interactive",
      never: "--init -v --version --show-config --print= --eval=",
    },
  },
  tsx: { ...running("--test --watch watch", "-e -p --eval --print"), ...ofNode },

  // Programs that run whatever a file, a script or their words say, in ways that are not read here: a rule must say all of it.
  // Clients of databases: `.shell` of sqlite3, `\!` of psql and mysql.
  "cqlsh duckdb influx isql mariadb mongo mongosh mysql psql redis-cli sqlite sqlite3 sqlplus usql": {
    covers: "input",
  },
  "mysqldump pg_dump pg_restore": { covers: "nothing" },
  // These take programs to run from their input, too.
  "csh fish ksh mksh rsh yash zsh": { covers: "input", fromInput: { options: shellOptions, always: "-s" } },
  [`at batch bc cmd crontab dc debugfs ed emacs ex expect gdb irb julia lldb m4 mail mailx micro nano octave pico powershell pry pwsh R scheme telnet
    tclsh view rview rvim vi vim vimdiff nvim`.replace(/\s+/g, " ")]: {
    covers: "input",
  },
  [`ansible ansible-playbook aria2c awk bpftrace capsh chroot c8 concurrently convert cross-env cross-env-shell dbus-run-session dotenv dotenvx dpkg dtrace
    elinks entr fakeroot faketime ffmpeg firejail flatpak flock gawk gimp gs hyperfine insmod kexec latex ld.so ldd lerna linux32 linux64 links ltrace
    lua luajit lualatex lynx mawk modprobe mosh mount msfconsole nawk nc ncat netcat nmap nodemon npm-run-all nsenter nyc osascript parallel pdflatex
    perf pkexec prlimit proot rlwrap Rscript rpm run-p run-parts run-s runcon runuser screen service setarch setpriv sftp snap socat
    ssh-agent start-stop-daemon strace strings su swift systemctl systemd-run tcpdump tex tmux torsocks unbuffer unshare valgrind w3m watch wine wish
    xelatex xterm xvfb-run xxd`.replace(/\s+/g, " ")]: { covers: "nothing" },
};
