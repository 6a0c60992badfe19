import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testPages } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { createSaveSessionContextTool } from "../packages/agent/src/index.ts";
import { ToolRegistry } from "../packages/core/src/index.ts";
import { createSkills } from "../packages/skills/src/index.ts";
import { createBashTools } from "../packages/tools-bash/src/index.ts";
import { createFsTools } from "../packages/tools-fs/src/index.ts";
import { createSearchTools } from "../packages/tools-search/src/index.ts";
import { createWebTools } from "../packages/tools-web/src/index.ts";

const workspace = fileURLToPath(new URL("../", import.meta.url));
const folder = fileURLToPath(new URL("src/content/docs/", import.meta.url));
const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => join(folder, name));

/** Every tool there is, confined to the folder of a page. */
function createRegistry(root: string): ToolRegistry {
  const context = {
    systemPrompt: "",
    sessionContext: [{ role: "user", content: "Save this." }],
    sessionContextFilePath: ".toolcrib/session.json",
  };
  return new ToolRegistry([
    ...createFsTools({ root }),
    ...createSearchTools({ root }),
    ...createBashTools({ cwd: root, background: true }),
    ...createWebTools(),
    ...createSkills({ folders: [join(workspace, "packages/skills/fixtures")] }).tools,
    createSaveSessionContextTool(context),
  ]);
}

/** READMEs are pages, too. */
const readmes = ["packages", "examples"]
  .flatMap((name) => readdirSync(join(workspace, name)).map((inner) => join(workspace, name, inner, "README.md")))
  .concat(join(workspace, "README.md"))
  .filter((path) => existsSync(path));

testPages(pages, createRegistry, readmes);

test("each tool has its page, with its arguments from its schema and at least one reply", () => {
  for (const name of createRegistry(folder).getToolNames()) {
    const text = readFileSync(join(folder, "tools", `${name}.md`), "utf8");
    expect(text).toContain(`<!-- arguments: ${name} -->`);
    expect(text).toContain(`\`\`\`json title=${name}\n`);
  }
});
