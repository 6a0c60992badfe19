import { createSaveSessionContextTool } from "@toolcrib/agent/sessions";
import { type ExecutableTool, type ToolContext, ToolError, ToolRegistry } from "@toolcrib/core";
import { nearestName } from "@toolcrib/core/internal";
import { createBashTools } from "@toolcrib/tools-bash";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { checkContext, checkDefaultOptions, type DefaultToolOptions } from "./options.ts";

/** The default tools, in their order. */
const defaultNames = [
  "read_file",
  "write_file",
  "save_session_context",
  "list_dir",
  "mkdir",
  "remove",
  "move",
  "search_text",
  "search_files",
  "run_bash",
] as const;

/** Registered after them with `bash: { background: true }`, the last one with `input` too. */
const backgroundNames = ["read_output", "stop_command", "write_input"] as const;

/** Of the packs, too, but not of the default tools. */
const otherNames = ["edit_file", "apply_patch"] as const;

const disabledNames = ["remove", "run_bash", ...backgroundNames] as const;

/** The file that `save_session_context` writes without a context. */
const sessionFile = ".toolcrib/session.json";

const emptyContext: ToolContext = Object.freeze({
  systemPrompt: "",
  sessionContext: Object.freeze([]),
  sessionContextFilePath: sessionFile,
});

/**
 * Creates a registry of the ten default tools, with `remove` and `run_bash` disabled; with `bash: { background: true }` also of `read_output`
 * and `stop_command`, with `input` of `write_input`, disabled too. Without a context, `save_session_context` saves an
 * empty session to `.toolcrib/session.json` and says so. Throws a TypeError for invalid options or an invalid context, a ToolError
 * (`not_found`) for an unknown name in `enable` or `disable`, and what `register` throws for an extra tool.
 */
export function createDefaultToolRegistry(
  context: ToolContext = emptyContext,
  options: DefaultToolOptions = {},
): ToolRegistry {
  checkContext(context);
  checkDefaultOptions(options);
  const { packs = createPacks(options), enable = [], disable = [], extra = [] } = options;
  checkPackNames(packs);
  const byName = new Map([...packs, createSaveSessionContextTool(context)].map((tool) => [tool.name, tool]));
  const registry = new ToolRegistry();
  const inOrder = [...defaultNames, ...backgroundNames].flatMap((name) => byName.get(name) ?? []);
  registry.register(...inOrder, ...extra);
  for (const name of disabledNames) registry.disable(name);
  for (const name of enable) if (!registry.enable(name)) throw unknownName("enable", name, registry);
  for (const name of disable) if (!registry.disable(name)) throw unknownName("disable", name, registry);
  return registry;
}

function createPacks(options: DefaultToolOptions): ExecutableTool[] {
  const paths = present(options, ["root", "deny", "readable"]);
  return [
    ...createFsTools({ ...paths, ...options.fs }),
    ...createSearchTools({ ...paths, ...options.search }),
    ...createBashTools({ ...paths, ...options.bash }),
  ];
}

/** Throws a TypeError for a name that would be left out unseen. */
function checkPackNames(packs: readonly ExecutableTool[]): void {
  const known: readonly string[] = [...defaultNames, ...backgroundNames, ...otherNames];
  const unknown = packs.find(({ name }) => !known.includes(name) || name === "save_session_context");
  if (unknown === undefined) return;
  throw new TypeError(
    `createDefaultToolRegistry: packs holds ${JSON.stringify(unknown.name)}, which is not the name of a tool of the packs; ` +
      "connect without prefix, or pass tools with other names as extra",
  );
}

/** Returns the options that are there, `undefined` too: the packs refuse it, as a limit was intended. */
function present<Name extends keyof DefaultToolOptions>(
  options: DefaultToolOptions,
  names: readonly Name[],
): Pick<DefaultToolOptions, Name> {
  return Object.fromEntries(names.filter((name) => name in options).map((name) => [name, options[name]])) as Pick<
    DefaultToolOptions,
    Name
  >;
}

function unknownName(option: string, name: string, registry: ToolRegistry): ToolError {
  const names = registry.getToolNames();
  const nearest = nearestName(name, names);
  return new ToolError({
    code: "not_found",
    toolName: name,
    message: `Cannot ${option} ${name}: there is no such tool. ${nearest ? `Did you mean ${nearest}?` : `There are ${names.join(", ")}.`}`,
    details: nearest === undefined ? {} : { nearest },
  });
}
