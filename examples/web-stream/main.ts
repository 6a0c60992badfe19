// node main.ts [FOLDER]
import { serve } from "@hono/node-server";
import { messageOf } from "@toolcrib/core/text";
import { modelFromEnvironment } from "./model.ts";
import { createApp } from "./server.ts";

try {
  const app = createApp(await modelFromEnvironment(), process.argv[2] ?? process.cwd());
  serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
    console.log(`http://127.0.0.1:${port}`),
  );
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
