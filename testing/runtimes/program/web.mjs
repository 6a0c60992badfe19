// Pages of a server on loopback, compressed and plain.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ToolRegistry } from "@toolcrib/core";
import { testTool } from "@toolcrib/core/testing";
import { createWebFetchTool } from "@toolcrib/tools-web";

const html = "<title>T</title><main><h1>Head</h1><p>a <a href=/b>b</a></p><pre><code>x\n  y</code></pre></main>";

export async function web({ test, atEnd }) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const type = { "content-type": "text/html; charset=utf-8" };
    if (request.url === "/gzip") response.writeHead(200, { ...type, "content-encoding": "gzip" }).end(gzipSync(html));
    else if (request.url === "/br")
      response.writeHead(200, { ...type, "content-encoding": "br" }).end(brotliCompressSync(html));
    else if (request.url === "/away") response.writeHead(302, { location: "http://localhost:1/" }).end();
    else if (request.url === "/never") response.writeHead(200, type).write("x");
    else if (request.url === "/gone") response.writeHead(404).end();
    else response.writeHead(200, type).end(html);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections?.();
    server.close();
  });
  const home = `http://127.0.0.1:${server.address().port}`;
  const create = () => createWebFetchTool({ privateHosts: ["127.0.0.1"], downloadTimeoutMs: 2000 });
  testTool(test, { create, validArgs: () => ({ url: home }) });
  const fetched = (path) => new ToolRegistry([create()]).execute("web_fetch", { url: home + path });

  test("reads a page as Markdown, compressed or not", async () => {
    for (const path of ["/", "/gzip", "/br"])
      assert.match(
        await fetched(path),
        new RegExp(`as Markdown[\\s\\S]*# Head\n\na \\[b\\]\\(${home}/b\\)\n\n\`\`\`\nx\n {2}y\n\`\`\`$`),
        path,
      );
  });

  test("refuses addresses that are not public, by the connection it makes", async () => {
    const registry = new ToolRegistry([createWebFetchTool()]);
    const before = asked.length;
    for (const host of ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1"]) {
      const outcome = await registry.invoke("web_fetch", { url: `http://${host}:${server.address().port}/` });
      assert.equal(outcome.error?.code, "permission_denied", `${host}: ${outcome.output ?? outcome.error.message}`);
    }
    assert.equal(asked.length, before);
  });

  test("says in words what went wrong", async () => {
    assert.match(await fetched("/gone"), /it answered 404/);
    assert.match(await fetched("/never"), /took more than 2000 ms/);
    assert.match(await fetched("/away"), /port 1/);
    assert.match(
      await new ToolRegistry([create()]).execute("web_fetch", { url: "http://127.0.0.1:9/" }),
      /Error executing web_fetch: /,
    );
  });
}
