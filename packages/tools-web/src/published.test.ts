import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));

test.skipIf(!existsSync(built))(
  "the built package reads a page in its thread under plain node, and lets the process end, also if the page needs none",
  () => {
    const script = `
    import { createServer } from "node:http";
    const { createWebFetchTool } = await import(${JSON.stringify(built)});
    const server = createServer(({ url }, response) => response.setHeader("content-type", url.slice(1)).end("<h1>built</h1>"));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = "http://127.0.0.1:" + server.address().port;
    const tool = createWebFetchTool({ privateHosts: ["127.0.0.1"] });
    for (const type of process.argv.slice(1)) console.log((await tool.execute({ url: url + type })).split("\\n").at(-1));
    server.close();
  `;
    for (const [type, out] of [
      ["/text/html", "# built\n"],
      ["/text/plain", "<h1>built</h1>\n"],
    ] as const) {
      const run = spawnSync(process.execPath, ["--input-type=module", "-e", script, type], {
        encoding: "utf8",
        // Less than a thread waits for the next page.
        timeout: 28_000,
      });
      expect({ out: run.stdout, error: run.stderr, status: run.status }).toEqual({ out, error: "", status: 0 });
    }
  },
);
