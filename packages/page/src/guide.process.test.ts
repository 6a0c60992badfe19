import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAskUserTool } from "@toolcrib/agent";
import { ScriptedProvider } from "@toolcrib/agent/testing";
import { temporaryServer } from "@toolcrib/testing";
import { hasChromium, startChromium } from "@toolcrib/testing/browser";
import { readExamples, runProgram } from "@toolcrib/testing/examples";
import { temporaryFolder } from "@toolcrib/testing/temporaryFolder";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { listenerOf } from "../testing/listenerOf.ts";
import { gate, payTools } from "../testing/server.ts";
import { createUIHandler } from "./aiSdk.ts";
import { openAgent, PageSessions } from "./index.ts";

const client = "@toolcrib/page/client";
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Writes the files of the guide's page into a folder with the packages that the guide installs. */
function writePage(): string {
  const folder = temporaryFolder("guide");
  const guide = here("../../../docs/src/content/docs/guides/pages.md");
  const files = readExamples(readFileSync(guide, "utf8")).filter(({ language }) => language === "tsx");
  for (const { title = "", code } of files) writeFileSync(join(folder, title), code);
  expect(files.map(({ title }) => title)).toEqual(["Chat.tsx", "main.tsx"]);
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@ai-sdk", "@types", "ai", "react", "react-dom"])
    symlinkSync(here(`../node_modules/${name}`), join(folder, "node_modules", name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

test("the page of the guide compiles under strict TypeScript", async () => {
  const folder = writePage();
  const compilerOptions = {
    ...{ noEmit: true, strict: true, noUncheckedIndexedAccess: true, allowImportingTsExtensions: true },
    ...{ target: "esnext", lib: ["esnext", "dom", "dom.iterable"], module: "nodenext", jsx: "react-jsx" },
    ...{ types: [], skipLibCheck: true, paths: { [client]: [here("./client.ts")] } },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.tsx"] }));
  const tsc = here("../../../node_modules/typescript/bin/tsc");
  const { out } = await runProgram(process.execPath, [tsc, "-p", "."], { cwd: folder });
  expect(out).toBe("");
});

test.skipIf(!hasChromium)(
  "the page of the guide logs in, keeps a message back while a turn runs, and takes words",
  async () => {
    const folder = writePage();
    const outfile = join(folder, "page.js");
    await build({
      ...{ entryPoints: [join(folder, "main.tsx")], outfile, bundle: true, format: "esm", jsx: "automatic" },
      ...{ alias: { [client]: here("./client.ts") }, logLevel: "error" },
    });
    const held = gate();
    const asking = { name: "ask_user", args: { question: "Which colour?" } };
    const provider = new ScriptedProvider([
      { calls: [asking, { name: "pay", args: { amount: 5 } }] },
      held.reply("It is done."),
      "Never.",
    ]);
    const ran: unknown[] = [];
    const journal = join(folder, "first.jsonl");
    const tools = payTools(ran);
    tools.register(createAskUserTool());
    const sessions = new PageSessions({
      open: ({ headers }) =>
        headers.get("authorization") === "Bearer ann"
          ? { journal, agent: () => openAgent(provider, journal, { tools }) }
          : undefined,
    });
    onTestFinished(() => sessions.close());
    const listener = listenerOf(createUIHandler(sessions));
    const url = await temporaryServer((request, response) => {
      if (request.url?.startsWith("/api/chat")) return listener(request, response);
      const isScript = request.url === "/page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      const html = '<!doctype html><div id="chat"></div><script type="module" src="/page.js"></script>';
      response.end(isScript ? readFileSync(outfile) : html);
    });
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(url);
    const message = page.getByRole("textbox", { name: "Message" });
    await message.fill("begin");
    await message.press("Enter");
    await page.getByRole("textbox", { name: "Answer" }).fill("heron blue");
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByRole("button", { name: "Yes" }).click();
    await held.reached;
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await message.fill("too early");
    await message.press("Enter");
    held.open();
    await page.getByText("It is done.").waitFor();
    expect(await message.inputValue()).toBe("too early");
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(ran).toEqual([{ amount: 5 }]);
    expect(readFileSync(journal, "utf8")).toContain("heron blue");
    await page.reload();
    await page.getByText("It is done.").waitFor();
    expect(await page.getByText("too early").count()).toBe(0);
  },
);
