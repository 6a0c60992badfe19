import type { ProgramRecords, Reads } from "./record.ts";

const operators = new Set("= == != -eq -ne -lt -le -gt -ge -nt -ot -ef ! ( )".split(" "));
const comparesFiles = /^-(?:nt|ot|ef)$/;

/** Reads a test: every word that is no operator may be a file whose state is asked. Words with an expansion were judged by their place before. */
function interpretTest(words: readonly string[]): Reads | string {
  if (words[0] === "[" && words.at(-1) !== "]") return "It has no ].";
  const operands = words.slice(1, words[0] === "[" ? -1 : undefined);
  const computed = operands.find((word) => /^-[vR]$/.test(word));
  if (computed !== undefined) return `${computed} computes with its word.`;
  const paths = operands.filter((word, at) => {
    const [before = "", after = ""] = [operands[at - 1], operands[at + 1]];
    const isFile = /^-[abcdefghkprsuwxGLNOS]$/.test(before) || comparesFiles.test(before) || comparesFiles.test(after);
    return isFile && !/^-[abcdefghknoprstuwxzGLNOS]$/.test(word) && !operators.has(word);
  });
  return { paths };
}

const none = (): Reads => ({ paths: [] });

/** Commands of the shell itself, as dash 0.5.12 and bash 5.2 have them. `shell/builtins` says which change how a line goes on. */
export const builtins: ProgramRecords = {
  // These take words that look like options, as they are.
  ": echo exit false return true": { reads: { operands: "data", interpret: none }, dataFrom: 1, covers: "anything" },
  "break continue expr shift": { reads: { operands: "data", interpret: none } },
  "[ test": { reads: { interpret: interpretTest } },
  // `command -v NAME` and `type NAME` say where a program is.
  command: {
    reads: { options: "-v -V", operands: "data", operandsNeed: "-v -V" },
    starts: { transparent: true },
  },
  eval: { starts: { script: "all", transparent: true } },
  exec: { style: "words", starts: { transparent: true } },
  // Assignments of these stand with the others; in any other form they make the line unreadable.
  "export read readonly set unset wait": { reads: { interpret: none } },
  printf: { reads: { operands: "data", interpret: none }, dataFrom: 2 },
  pwd: { reads: { options: "-L -P --logical --physical" } },
  trap: { starts: { script: "first", transparent: true } },
  type: { reads: { options: "-a -t -p -P -f", operands: "data" } },
};
