/** Every command with its arguments and flags, from the tables that it parses with. Flags that several commands share stand once. */
export async function commandsTable() {
  const { createCommands } = await import("../../../packages/cli/src/commands/commands.ts");
  const { flagLoaders } = await import("../../../packages/cli/src/commands/defineCommand.ts");
  const groups = new Map();
  const sections = [];
  const visit = async (command, path) => {
    await flagLoaders.get(command)?.();
    const children = command.commands.filter((one) => one.name() !== "help");
    for (const option of command.options) {
      const heading = headingOf(option);
      if (heading) groups.set(heading, new Map(groups.get(heading)).set(option.flags, option));
    }
    if (children.length === 0) sections.push(sectionOf(command, path));
    for (const child of children) await visit(child, `${path} ${child.name()}`);
  };
  await visit(createCommands({ stdout: { isTTY: false } }), "toolcrib");
  const shared = [...groups].map(([heading, options]) => [
    `### ${heading}`,
    "",
    ...flagRows([...options.values()]),
    "",
  ]);
  return [...shared.flat(), ...sections.flat()].join("\n").trimEnd();
}

/** The heading of a flag that several commands share; undefined for one of a single command. */
function headingOf({ helpGroupHeading }) {
  return helpGroupHeading?.replace(/:$/, "").replace(/ \(.*/, "");
}

function sectionOf(command, path) {
  // The command of --container has no name of its own for users.
  const title = path === "toolcrib container" ? "toolcrib --container" : path;
  const shared = [...new Set(command.options.map(headingOf).filter(Boolean))];
  const own = command.options.filter((option) => !headingOf(option));
  const rows = command.registeredArguments.map(({ description }, at) => [usagesOf(command)[at], description]);
  return [
    `### ${title}`,
    "",
    `${command.description().replace(/^[a-z]/, (first) => first.toUpperCase())}${shared.length === 0 ? "." : `. It takes the flags of ${shared.map((one) => `*${one}*`).join(", ")}.`}`,
    "",
    ...(rows.length + own.length === 0 ? [] : [...table([...rows, ...own.map(flagRow)]), ""]),
  ];
}

function usagesOf({ registeredArguments }) {
  return registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
}

const flagRows = (options) => table(options.map(flagRow));

function flagRow({ flags, description, argChoices }) {
  return [flags, `${description}${argChoices ? `: ${argChoices.map((one) => `\`${one}\``).join(", ")}` : ""}`];
}

function table(rows) {
  const cell = (text) => text.replaceAll("|", "\\|");
  return ["| | |", "| --- | --- |", ...rows.map(([what, about]) => `| \`${cell(what)}\` | ${cell(about)} |`)];
}
