/**
 * Gives each cell of a table the heading of its column (`data-label`), which `site.css` shows where there is no room for columns: on
 * a narrow screen, and everywhere for more than five. Tables of two columns stay as they are.
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
    return rows.replace("<table>", `<table class="labelled${labels.length > 5 ? " stacked" : ""}">`);
  });
}
