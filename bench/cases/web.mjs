import { createServer } from "node:http";
import { pair, spread, startChild } from "../pairs.mjs";

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

/** Pages before the row of later ones. */
const warmUps = 10;

/** `web_fetch` of a large page, beside fetching it and parsing it with the same parser. */
export async function web(report, { rounds }) {
  const page = largePage();
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(page));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const megabytes = (page.length / 1e6).toFixed(1);
  try {
    report({
      name: `web_fetch of a page of ${megabytes} MB, the first of a process, imports counted, to fetching and parsing it`,
      goal: 3,
      ratio: spread(
        await inTurn(
          rounds,
          () => firstPage("tool", url),
          () => firstPage("parse5", url),
        ),
      ),
    });
    const [fetched, parsed] = ["tool", "parse5"].map((what) => startChild("web.mjs", { args: [what, url] }));
    for (let warm = 1; warm < warmUps; warm += 1) for (const child of [fetched, parsed]) await child.ask();
    report({
      name: `web_fetch of a page of ${megabytes} MB, pages ${warmUps + 1} to ${warmUps + 20}, to fetching and parsing it`,
      goal: 1.5,
      ...(await pair(fetched, parsed, { rounds: 20 })),
      sameCount: true,
    });
    fetched.end();
    parsed.end();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Milliseconds from before the imports of a new process to its page. */
async function firstPage(what, url) {
  const child = startChild("web.mjs", { args: [what, url] });
  try {
    return (await child.ask({ sinceImports: true })).ms;
  } finally {
    child.end();
  }
}

async function inTurn(rounds, a, b) {
  const ratios = [];
  while (ratios.length < rounds) ratios.push((await a()) / (await b()));
  return ratios;
}
