// node main.ts [FOLDER]: a chat about the files of a folder, in a web page
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import type { Provider } from "@toolcrib/agent";
import { OfflineProvider } from "@toolcrib/agent/offline";
import { messageOf } from "@toolcrib/core/text";
import { modelFromEnvironment } from "./model.ts";
import { createApp } from "./server.ts";

const keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"];

/** Returns the model whose key is set; without one the stand-in, which follows a few rules. */
async function model(): Promise<Provider> {
  return keys.some((key) => process.env[key]) ? await modelFromEnvironment() : new OfflineProvider();
}

try {
  const journals = process.env.CHATS ?? join(tmpdir(), "toolcrib-chats");
  mkdirSync(journals, { recursive: true });
  const app = await createApp({ provider: await model(), root: process.argv[2] ?? process.cwd(), journals });
  serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
    console.log(`http://127.0.0.1:${port}`),
  );
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
