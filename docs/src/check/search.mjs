/** A word that must be found, and the page that must be among the first results. */
const expected = [
  ["write_file", "/tools/write_file/"],
  ["sandbox", "/guides/sandbox/"],
  ["ToolRegistry", "/reference/core/"],
];

/** Types a word into the search, finds the page among the results, clicks it and arrives. */
export async function checkSearch(browser, url) {
  const outcomes = [];
  for (const [word, address] of expected) {
    const problems = [];
    const tab = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    tab.on("pageerror", (error) => problems.push(error.message));
    try {
      await tab.goto(`${url}/`);
      await tab.locator("site-search button[data-open-modal]").click();
      await tab.locator("site-search input").fill(word);
      const result = tab.locator(`site-search a[href^="${address}"]`).first();
      await result.click();
      await tab.waitForURL((at) => at.pathname === address);
    } catch (error) {
      problems.push(error.message);
    }
    await tab.close();
    outcomes.push([`search for ${word}`, problems]);
  }
  return outcomes;
}
