import assert from "node:assert/strict";
import { checkLinks } from "./links.mjs";
import { findUnreadable } from "./unreadable.mjs";

const bad = `<!doctype html><main style="background: #fff">
  <p style="width: 3000px">too wide</p>
  <p style="color: #aaa">too pale</p>
  <p style="color: #111">fine</p>
</main>`;

/** What is wrong on purpose must be found, or the check checks nothing. Throws where it is not. */
export async function checkTheCheck(browser) {
  const tab = await browser.newPage({ viewport: { width: 360, height: 900 } });
  await tab.setContent(bad);
  const [wide = "", pale = "", ...others] = await tab.evaluate(findUnreadable, "light");
  await tab.close();
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
