import { readOptions } from "./options.ts";
import { isPlainAwkProgram, isPlainJqFilter, isPlainSedScript } from "./readOnlyScripts.ts";

/** What a read-only command reads; why it is not read-only otherwise. */
export type Judged = { readonly paths: readonly string[] } | { readonly why: string };

type Judge = (words: readonly string[]) => Judged;

const pick = (words: readonly string[], indexes: readonly number[]): string[] =>
  indexes.map((index) => words[index] ?? "");

const unknownOption = (words: readonly string[], at: number): Judged => ({
  why: `${words[at]} is not among the options of ${words[0]} that are known to only read.`,
});

/** Tests of `find` without a word after them, and with one. */
const findFlags = new Set(
  `-empty -readable -writable -executable -true -false -print -print0 -prune -quit -ls -not ! -a -and -o -or ( ) , -xdev -mount -depth -d
  -daystart -nouser -nogroup -noleaf -ignore_readdir_race`.split(/\s+/),
);
const findValues = new Set(
  `-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime
  -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -printf -lname -ilname -fstype -used`.split(/\s+/),
);
const findPaths = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

function judgeFind(words: readonly string[]): Judged {
  const paths: string[] = [];
  let at = 1;
  if (words[at] === "-P") at += 1;
  for (; at < words.length && !/^(?:-|[(!,]$)/.test(words[at] ?? ""); at += 1) paths.push(words[at] ?? "");
  if (paths.length === 0) paths.push(".");
  for (; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (findFlags.has(word)) continue;
    if (!findValues.has(word) && !findPaths.has(word)) return unknownOption(words, at);
    at += 1;
    if (findPaths.has(word)) paths.push(words[at] ?? "");
  }
  return { paths };
}

const fileTest = /^-[abcdefghknoprstuwxzGLNOS]$/;
const testOperators = new Set("= == != -eq -ne -lt -le -gt -ge -nt -ot -ef ! ( )".split(" "));

/** Every word that is no operator may be a file whose state is asked. Words with an expansion were judged by their place before. */
function judgeTest(words: readonly string[]): Judged {
  const operands = words[0] === "[" ? words.slice(1, -1) : words.slice(1);
  if (words[0] === "[" && words.at(-1) !== "]") return { why: "It has no ]." };
  const files: string[] = [];
  for (const [at, word] of operands.entries()) {
    if (/^-[vR]$/.test(word)) return unknownOption(operands, at);
    const before = operands[at - 1] ?? "";
    const after = operands[at + 1] ?? "";
    const isFile =
      /^-[abcdefghkprsuwxGLNOS]$/.test(before) || /^-(?:nt|ot|ef)$/.test(before) || /^-(?:nt|ot|ef)$/.test(after);
    if (isFile && !fileTest.test(word) && !testOperators.has(word)) files.push(word);
  }
  return { paths: files };
}

function judgeSed(words: readonly string[]): Judged {
  const list = "-n --quiet --silent -E -r --regexp-extended -u --unbuffered -z --null-data -e= --expression=";
  const { unknown, operands, names, values } = readOptions(words, 1, list);
  if (unknown !== undefined) return unknownOption(words, unknown);
  const given = names.some((name) => name === "-e" || name === "--expression");
  const scripts = given ? values : pick(words, operands.slice(0, 1));
  if (scripts.length === 0 || !isPlainSedScript(scripts.join("\n")))
    return { why: "Its script does more than print and replace." };
  return { paths: pick(words, given ? operands : operands.slice(1)) };
}

function judgeAwk(words: readonly string[]): Judged {
  const { unknown, operands } = readOptions(words, 1, "-F=", { stopAtOperand: false });
  if (unknown !== undefined) return unknownOption(words, unknown);
  const [program = "", ...files] = pick(words, operands);
  if (!isPlainAwkProgram(program)) return { why: "Its program may run a command or open a file." };
  // `NAME=value` assigns, also to what names files.
  if (files.some((file) => file.includes("="))) return { why: "It assigns a variable." };
  return { paths: files };
}

function judgeJq(words: readonly string[]): Judged {
  const list =
    "-r --raw-output -c --compact-output -n --null-input -s --slurp -S --sort-keys -e --exit-status -C --color-output -M --monochrome-output -a --ascii-output -j --join-output --tab --indent= -R --raw-input";
  const { unknown, operands } = readOptions(words, 1, list);
  if (unknown !== undefined) return unknownOption(words, unknown);
  const [filter = ".", ...files] = pick(words, operands);
  return isPlainJqFilter(filter) ? { paths: files } : { why: "Its filter reads other files or the environment." };
}

function judgeDate(words: readonly string[]): Judged {
  const list = "-u --utc --universal -I=? --iso-8601=? -R --rfc-email --rfc-3339= -d= --date= -r=@ --reference=@";
  const { unknown, operands, paths } = readOptions(words, 1, list);
  if (unknown !== undefined) return unknownOption(words, unknown);
  const format = pick(words, operands);
  return format.every((word) => word.startsWith("+")) && format.length < 2
    ? { paths }
    : { why: "It would set the clock." };
}

/** `command -v NAME` and `type NAME`: where a program is. */
function judgeCommand(words: readonly string[]): Judged {
  if (words[0] === "command" && !/^-[vV]$/.test(words[1] ?? "")) return { why: "It runs another program." };
  return words.slice(2).some((word) => word.startsWith("-")) ? unknownOption(words, 2) : { paths: [] };
}

const nothing: Judge = () => ({ paths: [] });

/** Programs whose words need more than a list of options to be judged. */
export const specialPrograms: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["[", judgeTest],
  ["awk", judgeAwk],
  ["command", judgeCommand],
  ["date", judgeDate],
  // What these assign stands with the assignments; in any other form they make the line unreadable.
  ["export", nothing],
  ["find", judgeFind],
  ["gawk", judgeAwk],
  ["jq", judgeJq],
  ["mawk", judgeAwk],
  ["read", nothing],
  ["readonly", nothing],
  ["sed", judgeSed],
  ["set", nothing],
  ["test", judgeTest],
  ["type", judgeCommand],
  ["unset", nothing],
  ["wait", nothing],
]);
