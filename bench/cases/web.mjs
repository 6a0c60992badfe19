import { createServer } from "node:http";
import { pair, startChild } from "../pairs.mjs";

/** A page like those of documentations: headings, links, lists, tables and code, some 200 KB of them. */
function largePage() {
  const sections = Array.from({ length: 500 }, (_, index) => {
    const item = `<li>An item with <a href="/page/${index}">a link</a>, <b>bold</b> and <code>code</code></li>`;
    const row = `<tr><td>row ${index}</td><td>${index * 7}</td></tr>`;
    return `<h2 id="s${index}">Section ${index}</h2><p>A line of words that explain what it is. ${"More of it. ".repeat(10)}</p>
<ul>${item}</ul><table><tr><th>name</th><th>value</th></tr>${row}</table><pre><code>const a = ${index};\n</code></pre>`;
  });
  return `<!doctype html><html><head><title>Large</title></head><body>${sections.join("\n")}</body></html>`;
}

/** `web_fetch` of a large page, beside fetching it and parsing it with the same parser. */
export async function web(report, { rounds }) {
  const page = largePage();
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(page));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const fetched = startChild("web.mjs", { args: ["tool", url] });
  const parsed = startChild("web.mjs", { args: ["parse5", url] });
  try {
    report({
      name: `web_fetch of a page of ${(page.length / 1e6).toFixed(1)} MB, to fetching and parsing it`,
      ...(await pair(fetched, parsed, { rounds: rounds * 3 })),
      sameCount: true,
    });
  } finally {
    fetched.end();
    parsed.end();
    server.closeAllConnections();
    server.close();
  }
}
