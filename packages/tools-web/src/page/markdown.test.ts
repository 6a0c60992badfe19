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
    ["<pre><div>a</div><div>&nbsp; b</div></pre>", "```\na\n  b\n```"],
    ["<table><tr><td><pre>1\n2</pre><td><pre>a\n  b</pre></table>", "```\n1\n2\n```\n\n```\na\n  b\n```"],
    ["<div role=tabpanel hidden>a</div><div hidden=until-found>b</div>", "a\n\nb"],
    ["<object data=x><p>a</p></object><canvas>b <i>c</i></canvas>", "a\n\nb *c*"],
    ["<svg><title>a</title><desc>b</desc><text>c<tspan>d</tspan></text><text>e</text></svg>", "a b cd e"],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });
});

describe("what stands above, below or across the line keeps its meaning", () => {
  test.each([
    ["10<sup>6</sup> rows, 2<sup>-10</sup>, e<sup>-x/2</sup>, 2<sup><i>n</i></sup>", "10^6 rows, 2^-10, e^(-x/2), 2^n"],
    ["5 m<sup>2</sup>, 1<sup>1</sup>/<sub>2</sub>, (a+b)<sup>2</sup>", "5 m^2, 1^1/2, (a+b)^2"],
    ["1<sup>st</sup>, 2<sup>e</sup>, Word<sup>TM</sup>, so<sup>[1]</sup>", "1st, 2e, WordTM, so[1]"],
    [
      "M<sup>me</sup>, 1<sup>ère</sup>, les 1<sup>ers</sup>, 2<sup>d</sup>, x<sup>n</sup>",
      "Mme, 1ère, les 1ers, 2d, x^n",
    ],
    ["e<sup>kt</sup>, 2<sup>nk</sup>, x<sup>e</sup>, 3<sup>e</sup>, 20<sup>º</sup>", "e^kt, 2^nk, x^e, 3e, 20º"],
    ["<code>n</code><sup>2</sup>, <code>a<sup>TM</sup></code>, <b>x</b><sup>2</sup>", "`n`^2, `aTM`, **x**^2"],
    ["so<sup><a href='#n'>1</a></sup> and <sup>a</sup> b", "so^1 and a b"],
    ["CO<sub>2</sub>, x<sub>i</sub>, 101<sub>2</sub>, x<sub>i+1</sub>", "CO2, x_i, 101_2, x_(i+1)"],
    ["<code>2<sup>10</sup></code><pre>2<sup>10</sup></pre>", "`2^10`\n\n```\n2^10\n```"],
    ["he said <q>yes, <q>no</q></q>", "he said “yes, “no””"],
    ["<ol><li value=3>a<li>b<li value=x>c</ol>", "3. a\n4. b\n5. c"],
    ["<ol reversed><li>a<li>b</ol><ol reversed start=9><li>c<li>d</ol>", "2. a\n1. b\n\n9. c\n8. d"],
    ["<ul><li><input type=checkbox disabled checked> a<li><input type=checkbox disabled> b</ul>", "- [x] a\n- [ ] b"],
    ["<label><input type=checkbox checked> a control</label>", "a control"],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });

  test.each([
    ["<tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2", "| a | b |\n| --- | --- |\n| x | 1 |\n|  | 2 |"],
    [
      "<tr><th rowspan=2>k<th colspan=2>v<tr><th>a<th>b<tr><td>x<td rowspan=0>1<td>2<tr><td>y<td>3",
      "| k | v |  |\n| --- | --- | --- |\n|  | a | b |\n| x | 1 | 2 |\n| y |  | 3 |",
    ],
    [
      "<tr><th>A<th>B<th>C<tr><td>1<td>2<td rowspan=2>long<tr><td>x<tr><td>a<td>b<td>c",
      "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | long |\n| x |  |  |\n| a | b | c |",
    ],
    ["<tr><td rowspan=2 colspan=2>x<td>1<tr><td>2", "| x |  | 1 |\n| --- | --- | --- |\n|  |  | 2 |"],
    ["<thead><tr><th rowspan=9>a<th>b<tbody><tr><td>1<td>2", "| a | b |\n| --- | --- |\n| 1 | 2 |"],
    [
      "<tr><td>a<td>b<tr><td rowspan=-1>1<td rowspan=x>2<tr><td>3<td>4",
      "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
    ],
  ])("a table of %s", (rows, markdown) => {
    expect(of(`<table>${rows}</table>`)).toBe(markdown);
  });
});

describe("formulas stay once", () => {
  const math = (inner: string, more = ""): string => `<math ${more}><semantics>${inner}</semantics></math>`;
  const tex = "<annotation encoding='application/x-tex'>x^2 % no\n</annotation>";
  const square = "<msup><mi>x</mi><mn>2</mn></msup>";
  const letter = "<mjx-c class='mjx-c1D465 TEX-I'></mjx-c>";
  test.each([
    [math(square + tex), "$x^2$"],
    [math(square, "alttext='x^2' display=block"), "$$x^2$$"],
    [math(`<mfrac>${square}<msqrt><mi>y</mi></msqrt></mfrac>`), "$\\frac{x^2}{\\sqrt{y}}$"],
    [`<span class=katex><span>${math(square + tex)}</span><span aria-hidden=true>x2</span></span>`, "$x^2$"],
    ["<span class=katex><span class=katex-html aria-hidden=true>x2</span></span>", "$x2$"],
    [`<mjx-container><mjx-math aria-hidden=true>${letter}</mjx-math>${math(square)}</mjx-container>`, "$x^2$"],
    [`<mjx-container display=true><mjx-math aria-hidden=true>${letter}</mjx-math></mjx-container>`, "$$x$$"],
    [`<mjx-container><svg><g data-latex='x^2'><use data-c=1D465></use></g></svg></mjx-container>`, "$x^2$"],
    [`<span class=MathJax>${math(square)}</span><script type='math/tex'>x^2</script>`, "$x^2$"],
    ["<span class=MathJax_Preview>[x]</span><script type='math/tex; mode=display'>x</script>", "$$x$$"],
    [`<span class=mwe-math-element><span style='display:none'>${math(square + tex)}</span><img alt=x></span>`, "$x^2$"],
    ["\\(a_1*b*c\\), \\[x \\\\[2pt] y\\] and $$z$$", "\\(a_1*b*c\\), \\[x \\\\[2pt] y\\] and $$z$$"],
    ["grep \\(foo\\|bar\\), $$ pid and $$ again", "grep \\(foo\\|bar\\), $$ pid and $$ again"],
    ["<math><mn>5</mn><mo>%</mo><mo>=</mo><mi>x</mi></math>", "$5\\%=x$"],
    ["<span class=katex><img alt='20% of x'></span>", "$20\\% of x$"],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });
});

describe("shadow roots show what their slots hold", () => {
  const root = (inner: string, mode = "open"): string => `<template shadowrootmode=${mode}>${inner}</template>`;
  test.each([
    [
      `<a-b>${root("<h2><slot name=t></slot></h2><slot></slot>.")}b <i slot=t>a</i><u slot=z>c</u></a-b>`,
      "## *a*\n\nb .",
    ],
    [`<a-b>\n${root("<slot>own</slot> <slot name=t>text</slot>")}\n</a-b>`, "own text"],
    [
      `<a-b>${root(`<c-d>${root("[<slot></slot>] <slot name=x></slot>", "closed")}<slot name=y slot=x></slot>in</c-d>`)}<b slot=y>y</b></a-b>`,
      "[in] **y**",
    ],
  ])("%s", (html, markdown) => {
    expect(of(html)).toBe(markdown);
  });
});

test.each([
  "Name<a href='#x'>¶</a>",
  "<a href='#x'>§</a>Name",
  "Name <a href='/docs/page#x'>#</a>",
  "Name<a href='#x'>\u200b</a>",
  "Name<a href='#x'><i>\uf0c1</i></a>",
  "Name<a href='#x'><svg><title>link</title></svg></a>",
  "<span>Name<a href='#x'>Permalink to “Name”</a></span>",
  "<a href='#x'>Name</a>",
])("a heading loses the link to itself: %s", (heading) => {
  expect(of(`<h2>${heading}</h2><h2><a href=#y>Link</a></h2>`)).toBe("## Name\n\n## Link");
});

test.each([
  ["# x", "\\# x"],
  ["- x", "\\- x"],
  ["1. x", "1\\. x"],
  ["> x<br>| y", "\\> x\n\\| y"],
  ["x<br>===<br>[a]: b", "x\n\\===\n\\[a]: b"],
  ["--- | ---<br>* * *", "\\--- | ---\n\\* * *"],
  ["[a](b) [c]<i></i>(d)", "\\[a\\](b) [c]\\(d)"],
  ["!<a href='/x'>a</a>", "\\![a](https://example.com/x)"],
  ["```js<br>~~~", "\\`\\`\\`js\n\\~~~"],
  ["*a* __b__ c_d 2 * 3", "\\*a\\* \\_\\_b\\_\\_ c_d 2 * 3"],
  ["&lt;b> &amp;amp; 1 &lt; 2 &amp; \\* C:\\x", "\\<b> \\&amp; 1 < 2 & \\\\* C:\\x"],
  ["<a href='/x'>[a] <code>b[0]</code></a>", "[\\[a\\] `b[0]`](https://example.com/x)"],
])("text that would be Markdown stays text: %s", (html, markdown) => {
  expect(of(`<p>${html}</p>`)).toBe(markdown);
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
    <p aria-hidden=true>c</p><p style="visibility:hidden">d</p><template>e</template><svg><defs>f</defs></svg><!-- g -->
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
    ["formulas within formulas", `<math>${repeat("<msup><mi>")}deep`],
    ["what MathJax renders without end", `${repeat("<mjx-container>")}deep`],
    ["shadow roots within shadow roots", `${repeat("<a-b><template shadowrootmode=open>", 2000)}deep`],
    ["slots without end", `<a-b><template shadowrootmode=open>${repeat("<slot></slot>")}</template>deep</a-b>`],
    ["brackets and marks", `${repeat("[![*_\\(\\[$$< ", 10_000)}deep`],
    ["headings of links", `<h1>${repeat("<a href=#>#</a><b>", 10_000)}deep`],
    ["tags named as members of objects", "<constructor>deep</constructor><__proto__>x</__proto__>"],
  ])("%s end, with their text", (_, html) => {
    expect(of(html)).toContain("deep");
  });
});
