import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));

test.skipIf(!existsSync(built))(
  "the built package reads a page in its thread under plain node, and lets the process end",
  () => {
    const script = `
    import { createServer } from "node:http";
    const { createWebFetchTool } = await import(${JSON.stringify(built)});
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<h1>built</h1>"));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = "http://127.0.0.1:" + server.address().port;
    console.log((await createWebFetchTool({ privateHosts: ["127.0.0.1"] }).execute({ url })).split("\\n").at(-1));
    server.close();
  `;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 120_000,
    });
    expect({ out: run.stdout, error: run.stderr, status: run.status }).toEqual({
      out: "# built\n",
      error: "",
      status: 0,
    });
  },
);
