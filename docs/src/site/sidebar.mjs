// The order of the pages. A page that is not here is not in the menu, and `npm run test:docs` names it.
import { listPages } from "./sources.mjs";

const present = new Set(listPages().map(({ id }) => id));
const group = (label, items, collapsed = false) => ({ label, collapsed, items: items.filter((id) => present.has(id)) });
const below = (prefix) => [...present].filter((id) => id.startsWith(prefix)).sort();

export const sidebar = [
  group("Start", ["guides/start", "guides/packs"]),
  group("Guides", [
    "guides/write-a-tool",
    "guides/guards",
    "guides/providers",
    "guides/chat",
    "guides/permissions",
    "guides/configuration",
    "guides/sessions",
    "guides/mcp",
    "guides/editors",
    "guides/container",
    "guides/durable",
    "guides/durable-figures",
    "guides/scripting",
    "guides/testing",
    "guides/upgrading",
  ]),
  group("Tools", [
    "tools",
    ...["read_file", "write_file", "edit_file", "apply_patch", "list_dir", "mkdir", "remove", "move"].map(toolPage),
    ...["search_text", "search_files", "run_bash", "read_output", "stop_command", "web_fetch", "read_skill"].map(
      toolPage,
    ),
    "tools/save_session_context",
  ]),
  group("Examples", ["examples", ...below("examples/")], true),
  group("Comparison", ["compare", "benchmarks"]),
  group("Packages", below("packages/"), true),
  group("API reference", ["reference", ...below("reference/")], true),
  group("Project", ["security", "contributing", "releasing"]),
].filter(({ items }) => items.length > 0);

function toolPage(name) {
  return `tools/${name}`;
}
