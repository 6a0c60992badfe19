import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
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

/** Stands for the services beside the programs of the pages about loops, as their overview says. */
const [, mock = ""] =
  /^```ts title=mock\.ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(folder, "loops/index.md"), "utf8")) ?? [];

/** Every tool there is, confined to the folder of a page. */
function createRegistry(root: string): ToolRegistry {
  if (basename(dirname(root)) === "loops") writeFileSync(join(root, "mock.ts"), mock);
  const context = {
    systemPrompt: "",
    sessionContext: [{ role: "user", content: "Save this." }],
    sessionContextFilePath: ".toolcrib/session.json",
  };
  return new ToolRegistry([
    ...createFsTools({ root }),
    ...createSearchTools({ root }),
    ...createBashTools({ cwd: root, background: true, input: true }),
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

/** Their programs are run by the tests of the packages, some of them with a server or a sandbox. */
const testedByPackages = new Set(
  [
    ...["guides/rules", "guides/sandbox", "guides/durable-database", "loops/plain"],
    ...["tools/files", "tools/searching", "tools/commands"],
  ].map((id) => join(folder, `${id}.md`)),
);

testPages(
  pages.filter((page) => !testedByPackages.has(page)),
  createRegistry,
  [...readmes, ...testedByPackages],
);

test("each tool has its page, with its arguments from its schema and at least one reply", () => {
  for (const name of createRegistry(folder).getToolNames()) {
    const text = readFileSync(join(folder, "tools", `${name}.md`), "utf8");
    expect(text).toContain(`<!-- arguments: ${name} -->`);
    expect(text).toContain(`\`\`\`json title=${name}\n`);
  }
});

const read = (path: string): string => readFileSync(join(workspace, path), "utf8");
const page = (id: string): string => readFileSync(join(folder, `${id}.md`), "utf8");
const isNamed = (name: string, text: string): boolean =>
  text.includes(`| \`${name}\``) || text.includes(`, \`${name}\` |`);

/** The members of a union of texts, or the keys of an interface, as the types of a package declare them. */
function declaredNames(path: string, declaration: string): string[] {
  const source = read(path);
  const [, body = ""] =
    new RegExp(`export (?:interface|type) ${declaration}(?: =)?(?: \\{)?\\n([\\s\\S]*?)(?:;\\n\\n|^\\}$)`, "m").exec(
      source,
    ) ?? [];
  const names = [...body.matchAll(/^ {2}\| "([\w-]+)"|^ {2}(\w+): (?:\{|Record<)/gm)].map(
    ([, member, key]) => member ?? key ?? "",
  );
  expect(names.length, `${declaration} in ${path}`).toBeGreaterThan(5);
  return names;
}

test("every error code of the types is named in the table of its package", () => {
  const text = page("guides/errors");
  const missing = [
    ["Tool calls", "packages/core/src/errors.ts", "ToolErrorDetails"],
    ["Agents", "packages/agent/src/errors.ts", "AgentErrorCode"],
    ["MCP servers", "packages/mcp/src/errors.ts", "McpErrorDetails"],
  ].flatMap(([heading = "", path = "", declaration = ""]) => {
    const [section = ""] = text.split(`\n## ${heading}\n`)[1]?.split("\n## ") ?? [];
    return declaredNames(path, declaration).filter((code) => !isNamed(code, section));
  });
  expect(missing).toEqual([]);
  const [, reasons = ""] = /export type ExitReason = (.+);/.exec(read("packages/cli/src/exitReasons.ts")) ?? [];
  const exits = [...reasons.matchAll(/"([\w-]+)"/g)].map(([, reason = ""]) => reason);
  expect(exits.filter((reason) => !text.includes(`| \`${reason}\` |`))).toEqual([]);
  expect(exits).toContain("denied");
});

test("every event, with its fields, and every reason of an end is named on the page about streaming", () => {
  const text = page("guides/streaming");
  const source = read("packages/agent/src/messages.ts");
  const union = source.slice(source.indexOf("export type AgentEvent"));
  const dropped = source.slice(source.indexOf("export interface ThinkingDropped"));
  const bodies = [...union.slice(0, union.indexOf(";\n\n")).matchAll(/\{([^{}]+)\}/g)].map(([, body = ""]) => body);
  bodies.push(dropped.slice(0, dropped.indexOf("}\n")));
  const events = bodies.flatMap((body) => {
    const [, type] = /readonly type: "([\w-]+)"/.exec(body) ?? [];
    const fields = [...body.matchAll(/readonly (\w+)\??:/g)].map(([, name = ""]) => name);
    return type === undefined ? [] : [{ type, fields: fields.filter((name) => name !== "type") }];
  });
  expect(events.length).toBeGreaterThan(10);
  for (const { type, fields } of events) {
    const row = text.split("\n").find((line) => line.startsWith(`| \`${type}\` |`)) ?? "";
    expect(row, `a row about ${type}`).not.toBe("");
    expect(
      fields.filter((name) => !new RegExp(`\`${name}\\b`).test(row)),
      `fields of ${type}`,
    ).toEqual([]);
  }
  const reasons = declaredNames("packages/agent/src/messages.ts", "EndReason");
  expect(reasons.filter((reason) => !isNamed(reason, text))).toEqual([]);
});

test("every page is in the menu, once, and every entry of the menu is a page", async () => {
  const { listPages } = await import(new URL("./src/site/sources.mjs", import.meta.url).href);
  const { menuPages } = await import(new URL("./src/site/sidebar.mjs", import.meta.url).href);
  const shown = menuPages().map(({ id }: { id: string }) => id);
  const ids = listPages().map(({ id }: { id: string }) => id);
  expect(new Set(shown).size).toBe(shown.length);
  expect(ids.filter((id: string) => id !== "index" && !shown.includes(id))).toEqual([]);
  expect(shown.filter((id: string) => !ids.includes(id))).toEqual([]);
});

test("the reference says of each published module what it is for, and names exports that there are", async () => {
  const { modules } = await import(new URL("./src/site/modules.mjs", import.meta.url).href);
  const published = readdirSync(join(workspace, "packages")).flatMap((name) => {
    const { name: packageName, exports } = JSON.parse(read(`packages/${name}/package.json`));
    return Object.entries<{ types?: string }>(exports).flatMap(([subpath, { types }]) =>
      types === undefined ? [] : [{ name: packageName + subpath.slice(1), types: `packages/${name}/${types}` }],
    );
  });
  expect(published.map(({ name }) => name).filter((name) => modules[name] === undefined)).toEqual([]);
  expect(Object.keys(modules).sort()).toEqual(published.map(({ name }) => name).sort());
  for (const { name, types } of published) {
    const declared = read(types);
    const [, ...exported] = modules[name];
    expect(
      exported.filter((one: string) => !new RegExp(`\\b${one}\\b`).test(declared)),
      name,
    ).toEqual([]);
  }
});

test("each README says in at most 900 words what npm shows; the longer ones are known", () => {
  const longer = new Set(["core", "agent", "cli"].map((name) => `packages/${name}/README.md`));
  for (const path of readmes.map((one) => relative(workspace, one).replaceAll("\\", "/"))) {
    const words = read(path).split(/\s+/).filter(Boolean).length;
    if (!longer.has(path)) expect(words, path).toBeLessThanOrEqual(path === "README.md" ? 1000 : 900);
  }
});
