import { expect, test } from "vitest";
import { developerOptions } from "./developerTools.ts";
import {
  hiddenByNature,
  hiddenGit,
  hiddenGitCommon,
  hiddenGitGlobal,
  hiddenOptions,
  hiddenWords,
  interpreters,
} from "./hiddenTable.ts";
import { readOnlyGit } from "./readOnlyGit.ts";
import { type ReadOnlyProgram, readOnlyPrograms, versionOptions } from "./readOnlyTable.ts";

const code = (text: string): string => (text === "" ? "" : `\`${text.replaceAll("|", "\\|")}\``);
const row = (...cells: string[]): string => `| ${cells.join(" | ")} |`;

function operandsOf({ operands, data, most }: ReadOnlyProgram): string {
  if (operands === undefined) return "none";
  const first = data === undefined ? "" : "a pattern, then ";
  return `${first}${operands}${most === undefined ? "" : `, at most ${most}`}`;
}

function page(): string {
  const programs = Object.entries(readOnlyPrograms).map(([name, program]) =>
    row(code(name), operandsOf(program), code(program.options ?? "")),
  );
  const git = Object.entries(readOnlyGit).map(([name, program]) => {
    const { verbs = [], operandsNeed = [], operand } = program;
    const words = [
      verbs.map((verb) => (verb === "" ? "nothing" : code(verb))).join(" or "),
      operand ? code(String(operand)) : "",
    ];
    const need = operandsNeed.length === 0 ? "" : `words only with ${operandsNeed.map(code).join(" ")}`;
    return row(code(name), [...words, need].filter(Boolean).join(", "), code(program.options ?? ""));
  });
  const versions = Object.entries(versionOptions).map(([name, options]) => row(code(name), code(options)));
  const hidden = Object.entries(hiddenOptions).map(([name, list]) => row(code(name), code(list)));
  const developers = Object.entries(developerOptions).map(([name, list]) =>
    row(code(name), code(list.replace(/\s+/g, " "))),
  );
  const ofGit = Object.entries(hiddenGit).map(([name, list]) => row(code(`git ${name}`), code(list)));
  const patterns = Object.entries(hiddenWords).map(([name, { source }]) => row(code(name), code(source)));
  const running = Object.entries(interpreters).map(([name, { plain, code: list }]) =>
    row(code(name), code(plain), code(list)),
  );
  return `# What commands may do

The tables by which \`@toolcrib/policy\` judges the commands of a shell line, written by a test from its source.

## Read-only commands

In the options, \`-n=\` takes a value, \`-f=@\` the path of a file that is read, \`--color=?\` may have a value attached, and \`-#\` is a
number (\`-20\`). Any other option, an abbreviated one too, makes the command asked. Operands that are paths must lie inside the roots.

${[row("program", "operands", "options"), row("---", "---", "---"), ...programs].join("\n")}

Judged by rules of their own: \`[\` and \`test\` without \`-v\`; \`find\` with tests and \`-print\` alone; \`sed\` with scripts that print, delete
and replace; \`awk\` with programs that have no pipe, redirection, \`system\` or \`getline\`; \`jq\` without \`env\`, \`import\` and
\`include\`; \`date\` with a format; \`command -v\`, \`type\`; \`export\`, \`readonly\`, \`read\`, \`unset\` of harmless variables; \`set\` with
\`-e\`, \`-u\`, \`-x\`, \`-v\` and \`-o pipefail\`.

## Read-only git

${[row("subcommand", "words after it", "options"), row("---", "---", "---"), ...git].join("\n")}

## Versions

These are read-only with that one option alone.

${[row("program", "option"), row("---", "---"), ...versions].join("\n")}

## What a wildcard does not cover

Options and words that run another program, load a file that can, or write a file. A rule must spell them out.

${[row("program", "options and words"), row("---", "---"), ...hidden, row(code("git"), code(hiddenGitGlobal)), row(code("git …"), code(hiddenGitCommon)), ...ofGit].join("\n")}

Further words of these are not covered where they match.

${[row("program", "regular expression"), row("---", "---"), ...patterns].join("\n")}

Tools of developers, whose options are all known. Names are compared without dashes and capitals; \`--reporter:dot,json\` is harmless
with one of these values, \`-c:\` without one; \`--api.\` is any name below it, \`NAME=\` a variable.

${[row("program", "options and words"), row("---", "---"), ...developers].join("\n")}

Programs that run a file or a text: a rule must spell out the word that names it. The options of the second column may stand before it,
those of the third take it as their value.

${[row("program", "plain options", "options that run their value"), row("---", "---", "---"), ...running].join("\n")}

Programs that only an exact rule allows: ${[...hiddenByNature].map(code).join(" ")}.
`;
}

test("the published page has the tables that decide", async () => {
  await expect(page()).toMatchFileSnapshot("../../COMMANDS.md");
});
