import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Covering, ProgramRecord, ProgramRecords, Reading, Running } from "./record.ts";
import { programs } from "./table.ts";

const code = (text: string): string =>
  text === "" ? "" : `\`${text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|")}\``;
const row = (...cells: string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => "---")), ...rows].join("\n");
const names = (key: string): string => key.split(" ").filter(Boolean).map(code).join(" ");

/** Each record with its name, subcommands too. */
function all(records: ProgramRecords, before = ""): [string, ProgramRecord][] {
  return Object.entries(records).flatMap(([key, record]): [string, ProgramRecord][] => {
    const name = before === "" ? names(key) : `${before} ${names(key)}`.trim();
    return [[name, record], ...all(record.commands ?? {}, name)];
  });
}

function wordsOf({ operands, data, most, operand, operandsNeed, interpret }: Reading): string {
  const first = data === undefined ? "" : "a pattern, then ";
  const kind = operands === undefined ? (interpret === undefined ? "none" : "its own") : `${first}${operands}`;
  return [
    `${kind}${most === undefined ? "" : `, at most ${most}`}`,
    ...(operand === undefined ? [] : [`like ${code(operand.source)}`]),
    ...(operandsNeed === undefined ? [] : [`only with ${operandsNeed.split(" ").map(code).join(" ")}`]),
  ].join(", ");
}

function coveredBy({ options = "", word, first, bundle }: Covering): string {
  const like = Object.entries({
    "each word like": word,
    "the first like": first,
    "letters without a dash like": bundle,
  });
  return [
    code(options),
    ...like.flatMap(([what, pattern]) => (pattern === undefined ? [] : [`${what} ${code(pattern.source)}`])),
  ]
    .filter(Boolean)
    .join(", ");
}

const running = ({ plain = "", code: before = "", launches = [] }: Running): string =>
  [
    `after ${code(plain) || "nothing"}`,
    before === "" ? "" : `or the word after ${code(before)}`,
    launches.length > 0 ? "which is a program" : "",
  ]
    .filter(Boolean)
    .join(", ");

const records = all(programs);
const having = <Key extends keyof ProgramRecord>(
  key: Key,
): [string, NonNullable<ProgramRecord[Key]>, ProgramRecord][] =>
  records.flatMap(([name, record]) =>
    record[key] === undefined ? [] : [[name, record[key] as NonNullable<ProgramRecord[Key]>, record]],
  );
const only = (what: "anything" | "nothing" | "input"): string =>
  having("covers")
    .filter(([, covers]) => covers === what)
    .map(([name]) => name)
    .join(", ");

function page(): string {
  const reading = having("reads").map(([name, reads]) => row(name, wordsOf(reads), code(reads.options ?? "")));
  const covering = having("covers").flatMap(([name, covers]) =>
    typeof covers === "string" ? [] : [row(name, coveredBy(covers))],
  );
  return `# What commands may do

This page lists the programs that \`@toolcrib/policy\` knows. A test writes it from their records (\`src/programs\`). For a program without a
record, the user is asked, and a rule about it covers exactly what the rule says.

## Read-only commands

In the options, \`-n=\` has a value, \`-f=@\` has the path of a file to read, and \`--arg=,\` has two values. \`--color=?\` may have a value
attached, and \`-#\` is a number (\`-20\`). For any other option, even an abbreviated one, the user is asked. Operands that are paths must be inside
the roots. If the words are "its own", a function checks the program: \`[\` and \`test\` without \`-v\`; \`sed -n\` with addresses and \`p\`; \`jq\`
without \`env\`, \`import\` and \`include\`; \`ps\` with columns that show no environment.

${table(["program", "words", "options"], reading)}

These programs only read if they have exactly one of these options:

${table(
  ["program", "option"],
  having("versionOptions").map(([name, options]) => row(name, code(options))),
)}

The records follow the option parsers of these programs:

${table(
  ["program", "source"],
  having("source").map(([name, source]) => row(name, source)),
)}

## What a wildcard covers

The \`*\` of a rule covers the options above, the following options exactly as written, and any operands. \`--reporter=dot\\|json\` has one of these
values, and \`-c=!\` has none. A rule must spell out every other option or subcommand.

${table(["program", "options"], covering)}

These programs run a file, a text or another program. A rule must spell out the word that names it:

${table(
  ["program", "the word"],
  having("runs").map(([name, runs]) => row(name, running(runs))),
)}

These programs start another command, which is judged by itself: ${having("starts")
    .map(([name]) => name)
    .join(", ")}.

For these programs, a wildcard covers any words: ${only("anything")}.

Only an exact rule allows these programs: ${only("nothing")}.

No rule with a pattern allows these programs, because they run commands from their input: ${only("input")}.

## What deny and ask rules take for the same

For a deny or ask rule, these names of options and subcommands mean the same, with commas between the groups. \`-X=\` may have its value
attached. \`--delete&--force\` means both together, \`+*\` is a word that begins with \`+\`, and a name before \`&\` alone does not count. In the options
above, a letter right before a long name that begins with it (\`-n --dry-run\`) means the same too. Long options may be cut short, except where the
program joins no letters. Allow rules do not look here.

${table(
  ["program", "names"],
  having("same").map(([name, same]) => row(name, code(same))),
)}

These programs take a subcommand cut short: ${having("heads")
    .map(([name]) => name)
    .join(", ")}.
`;
}

test("the published page has the records that decide", async () => {
  await expect(page()).toMatchFileSnapshot("../../COMMANDS.md");
});

const sourceOf = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");

function addingPage(): string {
  const kept = (name: string): string => {
    const found = Object.entries(programs).find(([key]) => key.split(" ").includes(name))?.[1];
    return `\`\`\`ts\n${JSON.stringify(
      { [name]: found },
      (_, value: unknown) => (value instanceof RegExp ? String(value) : value),
      2,
    )
      .replace(/"([a-z]+)":/gi, "$1:")
      .replace(/\\n\s*/g, " ")}\n\`\`\``;
  };
  return `# Add a program

Written by a test from the records. What \`@toolcrib/policy\` knows of a program is one record in \`src/programs\`, in the file of its family; \`table.ts\` lists
the files. A program is only worth a record that people use all day, and only reads by itself if its whole grammar is short: a program that takes a
program (\`awk\`), files by a list (\`strings @list\`) or an option that writes is none.

1. Read the source of its option parser, and say in \`source\` which version. Does it join letters? Does a value follow its letter? Which options take their
   value attached alone? An option whose value is read differently hides the next word: with \`-U=\` for \`-U=?\`, \`git diff -U --output=x\` wrote a file.
2. Write the options that keep it reading. Leave out each that writes, runs something, reads names or options from a file, or follows links.
3. Write in \`same\` the other names of what people deny: short and long options, subcommands. A false one makes a deny rule match too much.
4. Add the new lines to \`testing/shell/fixtures\` (\`inspection.txt\`, \`bypassOptions.txt\`, \`wildcards.txt\`, \`evasions.txt\`).
5. \`npx vitest run --project @toolcrib/policy -u\` renews this page and \`COMMANDS.md\`. In \`testing/suites/policy\`, \`records.suite.ts\` runs each option
   for real and compares how many values it takes, and \`programs.suite.ts\` runs made-up lines from the program's own help under a recorder:
   \`npm run test:faults -- testing/suites/policy\`.

## Examples

${["uniq", "xargs", "make"].map(kept).join("\n\n")}

## The fields

\`\`\`ts
${sourceOf("./record.ts").trim()}
\`\`\`
`;
}

test("the page for who adds a program shows records as they are", async () => {
  await expect(addingPage()).toMatchFileSnapshot("../../ADD-A-PROGRAM.md");
});
