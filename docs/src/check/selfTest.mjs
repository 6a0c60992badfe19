import assert from "node:assert/strict";
import { checkLinks } from "./links.mjs";
import { findMisplaced } from "./misplaced.mjs";
import { findUnnoted } from "./unpublished.mjs";
import { findUnreadable } from "./unreadable.mjs";

const bad = `<!doctype html><main style="background: #fff">
  <p style="width: 3000px">too wide</p>
  <p style="color: #aaa">too pale</p>
  <p style="color: #111">fine</p>
</main>`;

const misplaced = `<!doctype html><main style="width: 300px; font: 16px monospace">
  <div class="expressive-code" style="position: relative">
    <pre>const covered = "${"long ".repeat(12)}";</pre>
    <div class="copy"><button style="position: absolute; top: 12px; right: 0">copy</button></div>
  </div>
  <div class="expressive-code" style="position: relative">
    <pre>free()</pre><div class="copy"><button style="position: absolute; top: 12px; right: 0">copy</button></div>
  </div>
  <table style="display: block; overflow-x: auto"><tr><td style="min-width: 400px">wide</td></tr></table>
  <div class="diagram"><svg width="280" viewBox="0 0 280 100" style="font: 14px monospace">
    <rect class="box" x="0" y="0" width="60" height="40"/><text x="2" y="25">tight</text>
    <rect class="box" x="100" y="0" width="150" height="40"/><text x="120" y="25">roomy</text>
  </svg></div>
</main>`;

/** Throws unless the check finds each fault that was made on purpose. */
export async function checkTheCheck(browser) {
  const tab = await browser.newPage({ viewport: { width: 360, height: 900 } });
  await tab.setContent(bad);
  const [wide = "", pale = "", ...others] = await tab.evaluate(findUnreadable, "light");
  await tab.setContent("<main><p>npx @toolcrib/cli init</p></main>");
  const unnoted = await tab.evaluate(findUnnoted);
  await tab.setContent('<main><p>npx @toolcrib/cli init</p><p class="unpublished">not yet</p></main>');
  assert.deepEqual(await tab.evaluate(findUnnoted), []);
  assert.match(unnoted.join(), /^nothing says .*: npx @toolcrib\/cli init$/);
  await tab.setContent(misplaced);
  const [covered = "", cut = "", tight = "", ...more] = await tab.evaluate(findMisplaced);
  await tab.close();
  assert.match(covered, /^the copy button covers "const covered/);
  assert.match(cut, /^\d+ pixels are cut off "wide"/);
  assert.equal(tight, '"tight" is too near to the edge of a box');
  assert.deepEqual(more, []);
  assert.match(wide, /^the page is \d+ wide, because of <p/);
  assert.match(pale, /^contrast 2\.3 of "too pale"/);
  assert.deepEqual(others, []);

  const page = (targets, anchors = []) => ({ targets, anchors });
  const links = new Map([
    ["/", page(["/a/", "/gone/", "/a/#here", "/a/#gone", "https://example.com/x"])],
    ["/a/", page(["../", "#here", "#lost"], ["here"])],
    ["/alone/", page(["/alone/"])],
  ]);
  assert.deepEqual(Object.fromEntries(checkLinks(links)), {
    "/": ["/gone/ is no page", "/a/ has no anchor #gone"],
    "/a/": ["/a/ has no anchor #lost"],
    "/alone/": ["no page leads here"],
  });
}
