// The order of the pages, as the menu shows it. `pages.test.ts` fails for a page that is not here.
import { listPages } from "./sources.mjs";

const present = new Set(listPages().map(({ id }) => id));
const group = (label, items, collapsed = false) => ({ label, collapsed, items: items.filter(isPresent) });
const below = (prefix) => [...present].filter((id) => id.startsWith(prefix)).sort();
const guides = (...names) => names.map((name) => `guides/${name}`);

/** The reference is there once it has been generated. */
function isPresent(item) {
  return typeof item !== "string" || present.has(item) || !item.startsWith("reference");
}

const toolPages = [
  ...["read_file", "write_file", "edit_file", "apply_patch", "list_dir", "mkdir", "remove", "move"],
  ...[
    "search_text",
    "search_files",
    "run_bash",
    "read_output",
    "write_input",
    "stop_command",
    "web_fetch",
    "run_program",
    "read_skill",
  ],
  ...["save_session_context", "ask_user"],
].map((name) => `tools/${name}`);

export const sidebar = [
  group("Start", [...guides("start", "packs", "coming-from", "questions"), "compare"]),
  group("Use under your loop", [
    "loops",
    ...["ai-sdk", "langchain", "openai-agents", "mastra", "anthropic", "openai", "gemini", "plain"].map(
      (name) => `loops/${name}`,
    ),
    "guides/mcp",
    "guides/mcp-details",
    "guides/mcp-servers",
  ]),
  group(
    "Build an agent",
    guides(
      "providers",
      "write-a-tool",
      "programs",
      "schemas",
      "streaming",
      "pages",
      "sessions",
      "remote",
      "testing",
      "agent",
    ),
  ),
  group("Permissions", [
    ...guides("permissions", "guards", "approvals", "rules", "sandbox"),
    "packages/policy-commands",
    "security",
  ]),
  group("Production", [
    ...guides("production", "where-it-runs", "durable", "durable-database", "durable-figures", "upgrading"),
    "benchmarks",
  ]),
  group("The command", guides("chat", "scripting", "configuration", "container", "editors", "command")),
  group("Reference", [
    "guides/errors",
    group("Tools", ["tools", ...toolPages, "tools/files", "tools/searching", "tools/commands"], true),
    group("Examples", ["examples", ...below("examples/")], true),
    group(
      "Packages",
      below("packages/").filter((id) => id !== "packages/policy-commands"),
      true,
    ),
    group("API reference", ["reference", ...below("reference/")], true),
    group("Project", ["contributing", "releasing"], true),
  ]),
];

/** The pages of the menu, from top to bottom, each with the heading above it. */
export function menuPages(groups = sidebar, heading = undefined) {
  return groups.flatMap((item) =>
    typeof item === "string" ? [{ id: item, heading }] : menuPages(item.items, heading ?? item.label),
  );
}
