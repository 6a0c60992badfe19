import { execFile, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/**
 * Runs shell lines in the real shells, in a sandbox in which every program is replaced by one that records its
 * arguments. What starts other programs (`env`, `xargs`, `find`, `sh` …) is recorded and then does so.
 */
export interface Recording {
  /** Every program that was started, with its arguments, in the order in which they started. */
  readonly started: readonly Started[];
  /** Paths that are new, changed or gone afterwards. */
  readonly changed: readonly string[];
}

export interface Run {
  readonly line: string;
  readonly shell: Shell;
}

export interface Started {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Environment variables that differ from those with which the line was started, as `NAME=value`. */
  readonly environment: readonly string[];
}

/** `sh` is dash on Debian and bash in its POSIX mode elsewhere. */
export type Shell = "dash" | "bash" | "bash --posix";

/** The folders of a line. The sandbox has its own at these paths, filled by `projectFiles`. */
export interface Folders {
  readonly project: string;
  readonly home: string;
}

/** The files of the project, with the text `1` each; the name of one reads as an option. */
export const projectFiles: readonly string[] = ["a.txt", "b.txt", "src/c.txt", "-oevil", ".git/config"];
/** Programs in the project, some with the name of one that is found on the path. They are recorded as `./git`. */
const projectPrograms: readonly string[] = ["evil.sh", "git", "ls", "src/git"];

/** Programs that are recorded and run nothing. */
const recorded = (
  "git npm npx pnpm yarn node tsc eslint vitest jest cargo make python python3 perl ruby ls cat head tail wc sort uniq grep " +
  "rg sed awk cut tr tee touch rm mv cp mkdir chmod ln dd curl wget ssh man less file stat date id whoami uname which basename " +
  "dirname realpath diff tree du jq evil evil.sh a.txt src hello x y foo status echo printf true false test [ pwd"
).split(" ");
/** Programs that are recorded and then run the rest of their arguments. */
const passing = "sudo doas nohup nice time setsid timeout stdbuf ionice".split(" ");
/** Programs that are recorded and then run for real. */
const real = { env: "env", xargs: "xargs", find: "find", sh: "dash", ash: "dash", dash: "dash", bash: "bash" };

const recordStart = "\u0001record";
/** The message of dash; `type` and its like say the same of words that they start nothing for. */
const notFound = /^[^:]*: [0-9]+: (?!(?:type|command|hash): )(?:exec: )?(.+): not found$/gm;

const needed = ["bwrap", "dash", "bash", "env", "xargs", "find", "timeout", "rm", "mkdir", "chmod"];
const programs = new Map(needed.map((name) => [name, findProgram(name)]));

/** The reason why lines cannot be recorded here; undefined if they can. */
export const cannotRecord: string | undefined = ((): string | undefined => {
  const missing = needed.filter((name) => programs.get(name) === undefined);
  if (missing.length > 0) return `${missing.join(", ")} not found`;
  const probe = spawnSync(pathOf("bwrap"), "--unshare-all --ro-bind / / --proc /proc true".split(" "));
  return probe.status === 0 ? undefined : "bubblewrap does not work here";
})();

/** The lines of one call share a sandbox and run one after the other. */
export async function recordLines(lines: readonly Run[], folders: Folders): Promise<Recording[]> {
  const host = realpathSync(mkdtempSync(join(tmpdir(), "toolcrib-record-")));
  try {
    for (const name of ["log", "bin"]) mkdirSync(join(host, name));
    writeRecorders(join(host, "bin"));
    writeFileSync(join(host, "driver"), driver(lines, folders));
    await promisify(execFile)(pathOf("bwrap"), sandbox(host), { env: {}, maxBuffer: 64_000_000 });
    return lines.map((_, index) => readRecording(join(host, "log"), index, folders));
  } finally {
    rmSync(host, { recursive: true, force: true });
  }
}

function writeRecorders(folder: string): void {
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), `${text}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  const record = `#!/real/dash
read -r line </log/line
printf '%s\\0' '${recordStart}' "$PWD" "$(export -p)" "\${0#/bin/}" "$@" >>"/log/$line"`;
  for (const name of recorded) write(name, record);
  const skipOptions = "while :; do case $1 in -[ioenskf]) shift 2;; -*|[0-9]*) shift;; *) break;; esac; done";
  for (const name of passing) write(name, `${record}\n${skipOptions}\n[ $# = 0 ] || exec "$@"`);
  for (const [name, program] of Object.entries(real)) write(name, `${record}\nexec /real/${program} "$@"`);
}

function sandbox(host: string): string[] {
  const libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].flatMap((path) => ["--ro-bind-try", path, path]);
  return [
    ..."--unshare-all --die-with-parent --new-session --cap-drop ALL --tmpfs / --dev /dev --proc /proc".split(" "),
    ...libraries,
    ...["/bin", "/usr/bin"].flatMap((path) => ["--ro-bind", join(host, "bin"), path]),
    ...needed.flatMap((name) => (name === "bwrap" ? [] : ["--ro-bind", pathOf(name), `/real/${name}`])),
    ...["--ro-bind", join(host, "driver"), "/real/driver", "--bind", join(host, "log"), "/log", "--chdir", "/"],
    ...["--", "/real/bash", "/real/driver"],
  ];
}

/** Lines that could run for ever are given a time limit, by a program more to start. */
const limitFor = (line: string): string =>
  /while|until|for|select|read|\(\s*\)|function|coproc/.test(line) ? "'/real/timeout -s KILL 10'" : "";

/** The script that runs the lines. A bash of its own holds it, so it survives whatever a line does to its shell. */
function driver(lines: readonly Run[], { project, home }: Folders): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  return `shopt -s dotglob nullglob
prepare() {
  /real/rm -rf ${project} ${home} /tmp /etc
  /real/mkdir -p ${project}/src ${project}/.git/hooks ${home} /tmp /etc
  for file in ${projectFiles.join(" ")}; do printf 1 >"${project}/$file"; done
  for file in ${projectPrograms.join(" ")}; do
    while IFS= read -r text; do printf '%s\\n' "$text"; done </bin/evil.sh >"${project}/$file"
    /real/chmod 755 "${project}/$file"
  done
}
snapshot() {
  files=(${project}/* ${project}/*/* ${project}/.git/*/* ${home}/* ${project}/../* /tmp/* /etc/* /*)
  state="\${files[*]}"
  for file in ${projectFiles.join(" ")}; do state+=$(<"${project}/$file"); done
}
command_not_found_handle() {
  read -r line </log/line
  printf '%s\\0' '${recordStart}' "$PWD" '' "$@" >>"/log/$line"
  return 127
}
export -f command_not_found_handle
export PATH=/bin HOME=${home} LANG=C
unset OLDPWD TERM
prepare; snapshot; before=$state known=" \${files[*]} "
run() {
  printf '%s\\n' "$1" >/log/line
  # The substitution ends when nobody holds its pipe any more, so commands in the background have ended too.
  : "$(cd ${project}; $4 /real/$2 -c "$3" 8>&1 </dev/null >/dev/null 2>"/log/$1.err")"
  snapshot
  if [ "$state" != "$before" ]; then
    for file in "\${files[@]}"; do [[ $known = *" $file "* ]] || printf '%s\\0' "$file" >>"/log/$1.files"; done
    for file in ${projectFiles.join(" ")}; do
      [ "$(<"${project}/$file")" = 1 ] || printf '%s\\0' "${project}/$file" >>"/log/$1.files"
    done
    [ -e "/log/$1.files" ] || printf '%s\\0' 'a removed file' >"/log/$1.files"
    prepare
  fi
}
${lines.map(({ line, shell }, index) => `run ${index} ${quote(shell)} ${quote(line)} ${limitFor(line)}`).join("\n")}
exit 0
`;
}

function readRecording(folder: string, index: number, { project, home }: Folders): Recording {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), "utf8");
    } catch {
      return "";
    }
  };
  const started = read(String(index))
    .split(`${recordStart}\0`)
    .slice(1)
    .map((record) => record.split("\0").slice(0, -1))
    .map(([cwd = "", exported = "", ...argv]) => ({ argv, cwd, environment: changedVariables(exported, home) }));
  const missing = [...read(`${index}.err`).matchAll(notFound)].map(([, name = ""]) => ({
    argv: [name],
    cwd: project,
    environment: [],
  }));
  return { started: [...started, ...missing], changed: read(`${index}.files`).split("\0").slice(0, -1) };
}

function changedVariables(exported: string, home: string): string[] {
  const usual = new Set([`PATH=/bin`, `HOME=${home}`, "LANG=C"]);
  const ofShells = /^(?:PWD|OLDPWD|SHLVL|_)(?:=|$)/;
  return exported
    .split("\n")
    .map((line) => line.replace(/^(?:export|declare -x) /, ""))
    .filter((line) => line !== "" && !ofShells.test(line) && !usual.has(line.replace(/^(\w+)=(["'])(.*)\2$/, "$1=$3")));
}

function findProgram(name: string): string | undefined {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((candidate) => existsSync(candidate));
  return path === undefined ? undefined : realpathSync(path);
}

function pathOf(name: string): string {
  return programs.get(name) ?? "";
}
