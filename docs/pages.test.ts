import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { startsPrograms, testPages } from "@toolcrib/testing/testPages";
import { expect, test } from "vitest";
import { createRegistry, folder, pages, readmes, testedByPackages, workspace } from "./pages.ts";

testPages(
  pages.filter((page) => !testedByPackages.has(page) && !startsPrograms(page)),
  createRegistry,
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

test("what is generated stands in the pages as it is now; node docs/generate.mjs writes it", async () => {
  const { renew } = await import(new URL("./src/site/generated.mjs", import.meta.url).href);
  const { listPages } = await import(new URL("./src/site/sources.mjs", import.meta.url).href);
  const texts = listPages().map(({ path }: { path: string }) => [path, readFileSync(path, "utf8")]);
  for (const [path, text] of texts) expect(await renew(text), path).toBe(text);
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
