/**
 * Gives each cell of a table the heading of its column (`data-label`), which `site.css` shows where there is no room for columns: on
 * a narrow screen, and everywhere for columns that do not fit. Tables of two columns stay as they are. Names in code may break after
 * a slash, words in code that no column could hold anywhere.
 */
export function labelCells(html) {
  return html.replace(/<table>[\s\S]*?<\/table>/g, (table) => {
    const labels = [...table.matchAll(/<th\b[^>]*>([\s\S]*?)<\/th>/g)].map(([, text]) => plain(text));
    const breakable = table.replace(/<code\b([^>]*)>([^<]*)<\/code>/g, breakableCode);
    if (labels.length < 3) return breakable;
    const rows = breakable.replace(/<tr>[\s\S]*?<\/tr>/g, (row) => {
      let column = 0;
      return row.replace(/<td\b/g, () => `<td data-label="${labels[column++]}"`);
    });
    return rows.replace("<table>", `<table class="${["labelled", ...layout(breakable, labels.length)].join(" ")}">`);
  });
}

/** Signs alone need little room. Sentences in five columns have none, nor have words that are wider together than the page. */
function layout(table, columns) {
  const cells = [...table.matchAll(/<t[hd]\b[^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, text]) => text);
  const others = cells.slice(columns).filter((_, at) => at % columns > 0);
  const longest = Math.max(...others.map((text) => plain(text).length));
  if (longest <= 2) return ["signs"];
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...cells.filter((_, at) => at % columns === column).map(wordWidth)),
  );
  const wanted = widths.reduce((sum, width) => sum + width + 2 * padding, -2 * padding);
  return (columns >= 5 && longest > 160) || wanted > room ? ["stacked"] : [];
}

/** Pixels of a table at a width of 1280, between two columns, and of a letter in code and in text, in the widest usual fonts. */
const [room, padding, codeLetter, letter] = [736, 11, 8.4, 8.6];

/** Returns the width of the longest word of a cell, which cannot be broken. */
function wordWidth(text) {
  const code = [...text.matchAll(/<code\b[^>]*>([\s\S]*?)<\/code>/g)].flatMap(([, inner]) => inner.split(/<wbr>|\s/));
  const words = text
    .replace(/<code\b[\s\S]*?<\/code>/g, " ")
    .replace(/<[^>]+>/g, "")
    .split(/\s/);
  return Math.max(
    ...code.map((word) => plain(word).length * codeLetter + 12),
    ...words.map((word) => word.length * letter),
  );
}

function breakableCode(_code, attributes, text) {
  if (text.split(/\s/).some((word) => word.length > 40)) return `<code class="long"${attributes}>${text}</code>`;
  return `<code${attributes}>${text.replace(/(?<=\w)\/(?=\w)/g, "/<wbr>")}</code>`;
}

function plain(text) {
  return text.replace(/<[^>]+>/g, "").trim();
}
