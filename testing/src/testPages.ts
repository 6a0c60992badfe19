import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyToolRegistry } from "@toolcrib/core";
import { beforeAll, expect, test } from "vitest";
import { BlockRunner } from "./blockRunner.ts";
import { type Example, matchesText, readExamples, runProgram } from "./examples.ts";
import { routedServices } from "./routeServices.ts";
import { compileCache } from "./startProgram.ts";
import { sharedFolder, writeIn } from "./temporaryFolder.ts";
import { answerWith, type WireReply } from "./wireReplies.ts";
import { WireServer } from "./wireServer.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Names that blocks without a title may use without defining them: they show a call, not a program. */
const ambient = `import type { Agent, Provider } from "@toolcrib/agent";
import type { ToolRegistry } from "@toolcrib/core";
import type { DurableRuns } from "@toolcrib/durable";
declare global {
  const agent: Agent;
  const model: never;
  const prompt: string;
  const provider: Provider;
  const registry: ToolRegistry;
  const runs: DurableRuns;
}
`;

/** A block that is run, the text below it that says what it prints, and what a model answers meanwhile. */
interface Step extends Example {
  readonly printed: Example | undefined;
  readonly replies: readonly WireReply[];
}

/**
 * Declares tests for Markdown pages. Each page is one folder, read from top to bottom:
 * - a block with a title is a file of that name; a program (`ts title=NAME`) is run, too;
 * - `json title=TOOL` is a call of a tool, and the text below it the reply (`"id": "…"` is the id in the reply before);
 * - `sh` is run where a block of `text` follows;
 * - `<!-- replies: JSON -->` above a program is what the services of OpenAI and Anthropic answer it, one after the other;
 * - a block of `text` without a title is exactly what the block above prints, `…` standing for anything;
 * - the folder is called /project in what is printed.
 * Programs without replies run in one process, tests and commands in their own: see `startsPrograms`.
 * With TOOLCRIB_UPDATE_PAGES=1 the texts that differ are rewritten instead.
 */
export function testPages(pages: readonly string[], createRegistry: (folder: string) => AnyToolRegistry): void {
  const base = sharedFolder("pages");
  const runner = new BlockRunner();
  const folderOf = (page: string): string => join(base, basename(dirname(page)), basename(page, ".md"));
  beforeAll(() => {
    installInto(base);
    for (const page of pages) mkdirSync(folderOf(page), { recursive: true });
  });

  test.each(pages.map((page) => [page.slice(root.length), page]))("%s shows what really happens", async (_, page) => {
    const folder = folderOf(page);
    const registry = createRegistry(folder);
    const previous = process.cwd();
    process.chdir(folder);
    try {
      const printed = new Map<Example, string>();
      let id = "";
      for (const step of readSteps(page)) {
        const code = step.code.replace('"id": "…"', `"id": "${id}"`);
        const output = (await runStep({ ...step, code }, folder, registry, runner))?.replaceAll(folder, "/project");
        if (output === undefined) continue;
        id = /^\{"id":"(.+?)"/.exec(output)?.[1] ?? id;
        if (step.printed !== undefined) printed.set(step.printed, output);
        else expect({ line: step.line, output }).toEqual({ line: step.line, output: "" });
      }
      const wrong = [...printed].filter(([{ code }, output]) => !matchesText(output, code));
      if (process.env.TOOLCRIB_UPDATE_PAGES === "1") rewrite(page, wrong);
      else for (const [{ line, code }, output] of wrong) expect({ line, text: output }).toEqual({ line, text: code });
    } finally {
      process.chdir(previous);
    }
  });
}

/** Returns whether a page has commands, tests, or programs that services answer: each is a process. */
export function startsPrograms(page: string): boolean {
  return readSteps(page).some((step) => (step.language === "sh" && step.printed !== undefined) || isOwnProcess(step));
}

function isOwnProcess({ title = "", replies }: Step): boolean {
  return replies.length > 0 || title.endsWith(".test.ts");
}

/** Declares a test: all blocks of `ts` on these pages pass the type checker. */
export function testPageTypes(pages: readonly string[]): void {
  const base = sharedFolder("pages");

  test("every block of TypeScript passes the type checker", async () => {
    installInto(base);
    const checked = join(base, "checked");
    mkdirSync(checked);
    for (const page of pages) {
      const folder = join(checked, basename(dirname(page)), basename(page, ".md"));
      for (const { language, title, code, line } of readExamples(readFileSync(page, "utf8"))) {
        if (language !== "ts") continue;
        const file = join(folder, title ?? `line${line}.ts`);
        mkdirSync(dirname(file), { recursive: true });
        // The line numbers of a message are those of the page.
        writeFileSync(file, `${"\n".repeat(line)}${code}export {};\n`);
      }
    }
    writeFileSync(join(checked, "ambient.d.ts"), ambient);
    writeFileSync(join(checked, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { out } = await runProgram(process.execPath, [tsc, "-p", "."], { cwd: checked });
    expect(out).toBe("");
  });
}

const compilerOptions = {
  ...{ noEmit: true, strict: true, target: "esnext", lib: ["esnext"], module: "nodenext", skipLibCheck: true },
  ...{ allowImportingTsExtensions: true, types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
};

/** Makes the folder of a user who has installed the packages, their peers and the toolcrib command. */
function installInto(base: string): void {
  writeFileSync(join(base, "package.json"), '{ "type": "module" }\n');
  const installs = ["acp", "adapters", "agent", "core", "durable", "mcp", "page"].map((name) => join("packages", name));
  for (const folder of [...installs, "testing", "examples/web-chat"]) linkAll(join(root, folder, "node_modules"), base);
  symlinkSync(join(root, "packages"), join(base, "node_modules", "@toolcrib"), "junction");
  const bin = join(base, "bin");
  mkdirSync(bin);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "packages/cli/dist/bin.js")}" "$@"\n`;
  writeFileSync(join(bin, "toolcrib"), program);
  chmodSync(join(bin, "toolcrib"), 0o755);
}

function linkAll(modules: string, base: string): void {
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  for (const name of names) {
    if (name.startsWith(".") || name.startsWith("@toolcrib/")) continue;
    const link = join(base, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    try {
      symlinkSync(realpathSync(join(modules, name)), link, "junction");
    } catch (error) {
      // Another package brought it already.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function readSteps(page: string): Step[] {
  const text = readFileSync(page, "utf8");
  const lines = text.split("\n");
  const examples = readExamples(text);
  return examples.map((example, index) => {
    const next = examples[index + 1];
    const [, replies = "[]"] = /^<!-- replies: (.+) -->$/.exec(lines[example.line - 3] ?? "") ?? [];
    return {
      ...example,
      printed: next?.language === "text" && next.title === undefined ? next : undefined,
      replies: (JSON.parse(replies) as WrittenReply[]).map(toWireReply),
    };
  });
}

/** Returns what a block prints or answers, or undefined if it is not run. */
async function runStep(
  step: Step,
  folder: string,
  registry: AnyToolRegistry,
  runner: BlockRunner,
): Promise<string | undefined> {
  const { language, title, code, line, replies } = step;
  const isCall = language === "json" && title !== undefined && registry.hasTool(title);
  if (isCall) return registry.execute(title, JSON.parse(code));
  if (title !== undefined) writeIn(folder, title, code);
  const env = environmentIn(folder);
  if (language === "sh" && step.printed !== undefined) {
    // The command says on standard error what this machine lacks, a sandbox for example, and a page may show how it fails.
    return (await runProgram("sh", ["-c", code], { cwd: folder, env })).out;
  }
  if (language !== "ts" || title === undefined) return undefined;
  const run = isOwnProcess(step)
    ? await withServices(replies, (services) =>
        runProgram(process.execPath, [title], { cwd: folder, env: { ...env, ...services } }),
      )
    : await runner.run(title, folder, env);
  expect({ line, ...run, out: "" }).toEqual({ line, code: 0, errors: "", out: "" });
  return run.out;
}

/** A reply as a page writes it: the arguments of a call are an object. */
interface WrittenReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
}

function toWireReply({ calls, ...reply }: WrittenReply): WireReply {
  return { ...reply, ...(calls && { calls: calls.map((call) => ({ ...call, args: JSON.stringify(call.args) })) }) };
}

/** Runs `program` while the services answer with `replies`. */
async function withServices<T>(
  replies: readonly WireReply[],
  program: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (replies.length === 0) return program({});
  const server = await WireServer.start({ isLenient: true });
  try {
    server.script(...replies.map(answerWith));
    return await program({ ...routedServices(server), OPENAI_AGENTS_DISABLE_TRACING: "1" });
  } finally {
    server.takeProblems();
    await server.close();
  }
}

function environmentIn(cwd: string): Record<string, string> {
  const path = `${join(cwd, "../../bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
  return { PATH: path, ...compileCache, HOME: cwd, XDG_STATE_HOME: join(cwd, "../../state"), NODE_NO_WARNINGS: "1" };
}

function rewrite(page: string, wrong: readonly (readonly [Example, string])[]): void {
  const lines = readFileSync(page, "utf8").split("\n");
  for (const [{ line, code }, output] of [...wrong].reverse()) {
    lines.splice(line, code.split("\n").length - 1, ...output.trimEnd().split("\n"));
  }
  writeFileSync(page, lines.join("\n"));
}
