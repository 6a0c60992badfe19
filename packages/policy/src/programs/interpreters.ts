import type { ProgramRecord, ProgramRecords } from "./record.ts";

const running = (plain: string, code: string, more: ProgramRecord["runs"] = {}): ProgramRecord => ({
  runs: { plain, code, ...more },
});
/** Makes the record of a launcher, which looks a program up and runs it. */
const launching = (plain: string, code = ""): ProgramRecord =>
  running(plain, code, { launches: ["", ...code.split(" ")] });

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
    versionOptions: "--version -v",
    same: "-e= --eval=, -p= --print=, -r= --require=, -c --check, -i --interactive",
  },
  perl: running("-w", "-e -E"),
  php: running("", "-r -f -l"),
  pipx: launching("", "run"),
  "python python2 python3": {
    ...running("-u -B -I -E -s", "-c -m", { launches: ["-m"] }),
    versionOptions: "--version -V",
  },
  ruby: running("-w", "-e"),
  "ts-node": running("", "-e -p"),
  tsx: running("--test --watch watch", "-e -p --eval --print"),

  // Programs that run whatever a file, a script or their words say, in ways that are not read here: a rule must say all of it.
  // Clients of databases: `.shell` of sqlite3, `\!` of psql and mysql.
  "cqlsh duckdb influx isql mariadb mongo mongosh mysql psql redis-cli sqlite sqlite3 sqlplus usql": {
    covers: "input",
  },
  "mysqldump pg_dump pg_restore": { covers: "nothing" },
  // These take programs to run from their input, too.
  [`at batch bc cmd crontab csh dc debugfs ed emacs ex expect fish gdb irb julia ksh lldb m4 mail mailx micro mksh nano octave pico powershell pry
    pwsh R rsh scheme telnet tclsh view rview rvim vi vim vimdiff nvim yash zsh`.replace(/\s+/g, " ")]: {
    covers: "input",
  },
  [`ansible ansible-playbook aria2c awk bpftrace capsh chroot c8 concurrently convert cross-env cross-env-shell dbus-run-session dotenv dotenvx dpkg dtrace
    elinks entr fakeroot faketime ffmpeg firejail flatpak flock gawk gimp gs hyperfine insmod kexec latex ld.so ldd lerna linux32 linux64 links ltrace
    lua luajit lualatex lynx mawk modprobe mosh mount msfconsole nawk nc ncat netcat nmap nodemon npm-run-all nsenter nyc osascript parallel pdflatex
    perf pkexec prlimit proot rlwrap Rscript rpm run-p run-parts run-s runcon runuser screen script service setarch setpriv sftp snap socat
    ssh-agent start-stop-daemon strace strings su swift systemctl systemd-run tcpdump tex tmux torsocks unbuffer unshare valgrind w3m watch wine wish
    xelatex xterm xvfb-run xxd`.replace(/\s+/g, " ")]: { covers: "nothing" },
};
