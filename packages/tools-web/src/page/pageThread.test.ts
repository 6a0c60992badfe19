import { expect, test } from "vitest";
import { convertPage, preparePageThread } from "./pageThread.ts";

const never = new AbortController().signal;
const url = "https://example.com/";
/** Takes the reader longer than it may: each of these is open in the next one. */
const endless = `<table>${"<b><i><a href=x>".repeat(200_000)}`;

const read = (html: string, signal = never): Promise<string> => convertPage(html, url, signal);

test("pages are read one after another and side by side, each by itself", async () => {
  preparePageThread();
  const pages = Array.from({ length: 6 }, (_, index) => `<title>T${index}</title><p>page ${index}`);
  const expected = pages.map((_, index) => `# T${index}\n\npage ${index}`);
  expect(await Promise.all(pages.map((html) => read(html)))).toEqual(expected);
  for (const [index, html] of pages.entries()) expect(await read(html)).toBe(expected[index]);
});

test("an abort ends the reading of a page, and a page that takes too long the thread alone: the next is read", async () => {
  await expect(read(endless, AbortSignal.timeout(200))).rejects.toMatchObject({ name: "TimeoutError" });
  expect(await read("<p>next")).toBe("next");
  await expect(read(endless)).rejects.toThrow(/^Cannot read the page https:\/\/example\.com\/: /);
  expect(await read("<p>next")).toBe("next");
});
