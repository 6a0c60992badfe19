/**
 * Gives each cell of a table the heading of its column (`data-label`), which `site.css` shows where there is no room for columns: on
 * a narrow screen, and everywhere for many columns with text. Tables of two columns stay as they are.
 */
export function labelCells(html) {
  return html.replace(/<table>[\s\S]*?<\/table>/g, (table) => {
    const labels = [...table.matchAll(/<th\b[^>]*>([\s\S]*?)<\/th>/g)].map(([, text]) =>
      text.replace(/<[^>]+>/g, "").trim(),
    );
    if (labels.length < 3) return table;
    const rows = table.replace(/<tr>[\s\S]*?<\/tr>/g, (row) => {
      let column = 0;
      return row.replace(/<td\b/g, () => `<td data-label="${labels[column++]}"`);
    });
    return rows.replace("<table>", `<table class="labelled${isCrowded(table, labels.length) ? " stacked" : ""}">`);
  });
}

/** Five columns have no room for sentences, and more of them none for a few words. A table of signs fits. */
function isCrowded(table, columns) {
  const cells = [...table.matchAll(/<td\b[^>]*>([\s\S]*?)<\/td>/g)].map(([, text]) => text.replace(/<[^>]+>/g, ""));
  const longest = Math.max(...cells.filter((_, at) => at % columns > 0).map((text) => text.length));
  return (columns > 5 && longest > 20) || (columns === 5 && longest > 160);
}
