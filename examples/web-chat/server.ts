import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Provider } from "@toolcrib/agent";
import { createAskUserTool } from "@toolcrib/agent/ask-user";
import { type ToolEffect, ToolRegistry } from "@toolcrib/core";
import { openAgent, PageSessions } from "@toolcrib/page";
import { createAgUiHandler } from "@toolcrib/page/ag-ui";
import { createUIHandler } from "@toolcrib/page/ai-sdk";
import { createPolicy, fileStore } from "@toolcrib/policy";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { build } from "esbuild";
import { Hono } from "hono";
import { csrf } from "hono/csrf";
import { secureHeaders } from "hono/secure-headers";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const ownHost = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

export interface AppOptions {
  readonly provider: Provider;
  /** The folder whose files the agent works with. */
  readonly root: string;
  /** The folder that has a journal of each chat. */
  readonly journals: string;
}

/** Serves the page, and each chat over both protocols. */
export async function createApp({ provider, root, journals }: AppOptions): Promise<Hono> {
  const paths = { root, deny: [".env", "*.pem"] };
  const tools = new ToolRegistry([...createFsTools(paths), ...createSearchTools(paths), createAskUserTool()]);
  const policy = createPolicy({
    ...{ roots: root, denied: paths.deny },
    // Answers for always hold in all chats.
    remembered: fileStore(join(journals, "remembered.json")),
  });
  tools.guard(policy.guard);
  const systemPrompt = `You answer questions about the files of ${root}, and change them on request. Answer in plain text.`;
  const sessions = new PageSessions({
    // Whoever reaches this server is its one user. With logins, look up here whether this user owns the chat.
    open: (_request, id) => {
      const journal = join(journals, `${id}.jsonl`);
      return { journal, policy, agent: () => openAgent(provider, journal, { tools, systemPrompt }) };
    },
  });
  const script = await bundled();
  const app = new Hono();
  // A page of another site, also one whose name leads to this machine, gets no answer.
  app.use(csrf(), (c, next) => (ownHost.test(c.req.header("host") ?? "") ? next() : Promise.resolve(c.text("", 403))));
  app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'self'"], imgSrc: ["'self'", "data:"] } }));
  const page = readFileSync(here("page.html"), "utf8").replace("FOLDER", () => escaped(basename(root)));
  const style = readFileSync(here("page.css"), "utf8");
  app.get("/", (c) => c.html(page));
  app.get("/page.css", (c) => c.body(style, 200, { "Content-Type": "text/css" }));
  app.get("/page.js", (c) => c.body(script, 200, { "Content-Type": "text/javascript" }));
  app.post("/effects", async (c) => {
    const { name, args } = await c.req.json<{ name: string; args: Record<string, unknown> }>();
    const effects = await Promise.resolve(tools.get(name)?.effects?.(args)).catch(() => undefined);
    return c.json((effects ?? []).map((effect) => worded(effect, root)));
  });
  const [overAiSdk, overAgUi] = [createUIHandler(sessions), createAgUiHandler(sessions)];
  app.all("/ai-sdk/*", (c) => overAiSdk(c.req.raw)).all("/ai-sdk", (c) => overAiSdk(c.req.raw));
  app.all("/ag-ui/*", (c) => overAgUi(c.req.raw)).all("/ag-ui", (c) => overAgUi(c.req.raw));
  return app;
}

function worded({ kind, path, command, host }: ToolEffect, root: string): string {
  return `${kind} ${path === undefined ? (command ?? host ?? "") : relative(root, path) || "."}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [here("page.tsx")],
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser", target: "es2022" },
    ...{ jsx: "automatic", define: { "process.env.NODE_ENV": '"production"' } },
  });
  return outputFiles[0]?.text ?? "";
}
