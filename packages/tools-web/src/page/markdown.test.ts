import { describe, expect, test } from "vitest";
import { pageToMarkdown } from "./markdown.ts";

const of = (html: string): string => pageToMarkdown(html, "https://example.com/docs/page?x=1");

describe("what a page shows stays", () => {
  test.each([
    ["<title> A\n title </title><p>x", "# A title\n\nx"],
    ["<title>Same</title><h1>Same</h1><p>x", "# Same\n\nx"],
    ["<h2>A <b>b</b></h2><h6>deep</h6>", "## A **b**\n\n###### deep"],
    ["a <b> bold </b>and <em>so</em> <s>on</s><br>next", "a **bold** and *so* ~~on~~\nnext"],
    ["<p>one</p><div>two<div>three</div></div>four", "one\n\ntwo\n\nthree\n\nfour"],
    ["<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"],
    ["<ol start=3><li><p>a</p><p>b</p></li><li>c</li></ol>", "3. a\n   b\n4. c"],
    ["<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"],
    ["<dl><dt>a</dt><dd>b</dd></dl>", "a\n\n: b"],
    ["<pre><code class='language-ts'>const a = 1;\n  b();\n</code></pre>", "```ts\nconst a = 1;\n  b();\n```"],
    ["<pre>```\nx</pre>", "````\n```\nx\n````"],
    ["use <code>a ` b</code>", "use ``a ` b``"],
    ["a<hr>b", "a\n\n---\n\nb"],
    ["<noscript>no scripts here</noscript>", "no scripts here"],
    ["a&nbsp;&nbsp;b\t\n c", "a b c"],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });
});

describe("links are absolute", () => {
  test.each([
    ["<a href='../a b(1)'>x [y]</a>", "[x \\[y\\]](https://example.com/a%20b%281%29)"],
    ["<a href='https://example.com/'>https://example.com/</a>", "<https://example.com/>"],
    ["see<a href='/x'> there </a>now", "see [there](https://example.com/x) now"],
    ["<a href='#part'>here</a> <a href='javascript:x()'>there</a> <a href='data:,x'>d</a>", "here there d"],
    ["<a href='/c'><img src='i.png' alt='pic'></a>", "[![pic](https://example.com/docs/i.png)](https://example.com/c)"],
    ["<a href='/card'><h3>Card</h3><p>text</p></a>", "### Card\n\ntext\n\n<https://example.com/card>"],
    ["<img src='data:image/png;base64,AA' alt='dot'><img src=x>", "![dot]"],
    ["<iframe src='/inner'></iframe>", "<https://example.com/inner>"],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });

  test("from the page's own base", () => {
    expect(of("<base href='//cdn.example.org/a/'><a href='b'>x</a>")).toBe("[x](https://cdn.example.org/a/b)");
  });
});

describe("tables", () => {
  test("of data are tables, cells on one line", () => {
    const html =
      "<table><caption>C</caption><thead><tr><th>a<th>b|c</thead><tr><td colspan=2><p>1</p><p>2</p><tr><td>x<td>y<td>z</table>";
    expect(of(html)).toBe("C\n\n| a | b\\|c |  |\n| --- | --- | --- |\n| 1 2 |  |  |\n| x | y | z |");
  });

  test("that only place things are read as blocks", () => {
    expect(of("<table><tr><td><h2>a</h2><table><tr><td>1<td>2</table></table>")).toBe(
      "## a\n\n| 1 | 2 |\n| --- | --- |",
    );
    expect(of("<table><tr><td>a<tr><td>b</table>")).toBe("a\n\nb");
  });
});

test("what a page hides, and what is no text, is left out", () => {
  const html = `<style>p{}</style><script>s()</script><p hidden>a</p><p style="color:red; display : none">b</p>
    <p aria-hidden=true>c</p><p style="visibility:hidden">d</p><template>e</template><svg><text>f</text></svg><!-- g -->
    <dialog>h</dialog><select><option>i</select><textarea>j</textarea><input value=k><p>shown</p>`;
  expect(of(html)).toBe("shown");
});

describe("hostile pages", () => {
  const repeat = (part: string, times = 50_000): string => part.repeat(times);
  test.each([
    ["elements without end", `${repeat("<div>")}deep`],
    ["inline elements without end", `${repeat("<b>")}deep`],
    ["links within links", `${repeat("<a href=x>")}deep`],
    ["lists within lists", `${repeat("<ul><li>", 5000)}deep`],
    ["quotes within quotes", `${repeat("<blockquote>", 5000)}deep`],
    ["tables within tables", `${repeat("<table><tr><td>", 5000)}deep`],
    ["attributes without end", `<p ${repeat("a=b ", 10_000)}>deep`],
    ["cells without end", `<table><tr><td colspan=1000000000>deep<td>b</table>`],
    ["entities", `${repeat("&amp;")}deep`],
    ["open tags", `${repeat("<p <")}>deep`],
    ["forms of the parser's own", `${repeat("<table><p>", 2000)}deep`],
    ["tags named as members of objects", "<constructor>deep</constructor><__proto__>x</__proto__>"],
  ])("%s end, with their text", (_, html) => {
    expect(of(html)).toContain("deep");
  });
});
