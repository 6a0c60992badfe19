// node assistantServer.ts PORT JOURNALS: the page of assistant-ui, whose agent has one tool that asks
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineTool, ToolRegistry } from "@toolcrib/core";
import { build } from "esbuild";
import { createUIHandler } from "../src/aiSdk.ts";
import { openAgent, PageSessions } from "../src/index.ts";
import { chatModel } from "./chatModel.ts";
import { listenerOf } from "./listenerOf.ts";

const [port = "0", journals = ""] = process.argv.slice(2);
const tools = new ToolRegistry([
  defineTool({
    name: "write_file",
    description: "writes",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
    execute: ({ path }) => `Wrote ${path}.`,
  }),
]);
tools.guard(() => ({ ask: "May it write?" }));
const sessions = new PageSessions({
  open: (_request, id) => {
    const journal = join(journals, `${id}.jsonl`);
    return { journal, agent: () => openAgent(chatModel, journal, { tools }) };
  },
});
const handler = createUIHandler(sessions);
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("assistantPage.tsx", import.meta.url))],
  ...{ bundle: true, write: false, format: "esm", platform: "browser", target: "es2022", jsx: "automatic" },
  define: { "process.env.NODE_ENV": '"production"' },
});
const page = '<!doctype html><meta charset="utf-8"><div id="chat"></div><script type="module" src="/page.js"></script>';
const server = createServer(
  listenerOf(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/") return new Response(page, { headers: { "Content-Type": "text/html" } });
    if (pathname !== "/page.js") return await handler(request);
    return new Response(outputFiles[0]?.text, { headers: { "Content-Type": "text/javascript" } });
  }),
);
server.listen(Number(port), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
