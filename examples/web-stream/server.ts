import { readFileSync } from "node:fs";
import { Agent, isAgentError, type Provider } from "@toolcrib/agent";
import { ToolRegistry } from "@toolcrib/core";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { csrf } from "hono/csrf";
import { streamSSE } from "hono/streaming";

const page = readFileSync(new URL("page.html", import.meta.url), "utf8");
const ownHost = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** Answers questions about the files in `root`, over HTTP, as server-sent events. */
export function createApp(provider: Provider, root: string): Hono {
  const paths = { root, deny: [".env", "*.pem"] };
  const packs = [...createFsTools(paths), ...createSearchTools(paths)];
  const tools = new ToolRegistry(packs.filter(({ readOnly }) => readOnly));
  const app = new Hono();
  // A page of another site, also one whose name leads to this machine, gets no answer.
  app.use(csrf(), (c, next) => (ownHost.test(c.req.header("host") ?? "") ? next() : Promise.resolve(c.text("", 403))));
  app.get("/", (c) => c.html(page));
  app.post("/ask", bodyLimit({ maxSize: 100_000 }), async (c) => {
    const { question } = await c.req.json<{ question?: unknown }>().catch(() => ({ question: undefined }));
    if (typeof question !== "string" || question.trim() === "")
      return c.json({ message: 'Send { "question": "…" } as JSON.' }, 400);
    return streamSSE(c, async (stream) => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      const send = (event: { type: string }): Promise<void> =>
        stream.writeSSE({ event: event.type, data: JSON.stringify(event) });
      try {
        const agent = new Agent(provider, { tools });
        for await (const event of agent.streamChat(question, { signal: left.signal })) await send(event);
      } catch (error) {
        if (left.signal.aborted) return;
        console.error(error);
        await send({ type: "failure", ...(isAgentError(error) && { message: error.message }) });
      }
    });
  });
  return app;
}
