/**
 * Runs in the page and returns what lies in the wrong place: a copy button over code, a table that is cut at its right edge, a diagram that is cut,
 * and text too near to the edge of its box in a diagram.
 */
export function findMisplaced() {
  const problems = [];
  const quote = (text) => JSON.stringify(text.trim().slice(0, 40));
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

  for (const block of document.querySelectorAll(".expressive-code")) {
    const button = block.querySelector(".copy button")?.getBoundingClientRect();
    if (button === undefined || button.width === 0) continue;
    const walker = document.createTreeWalker(block.querySelector("pre"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.data.trim() === "") continue;
      const range = document.createRange();
      // Spaces at the end of a line hang over its edge.
      range.setStart(node, node.data.length - node.data.trimStart().length);
      range.setEnd(node, node.data.trimEnd().length);
      if (![...range.getClientRects()].some((rect) => meet(rect, button))) continue;
      problems.push(`the copy button covers ${quote(node.data)}`);
      break;
    }
  }
  for (const one of document.querySelectorAll("main table, main .diagram"))
    if (one.scrollWidth > one.clientWidth + 1)
      problems.push(`${one.scrollWidth - one.clientWidth} pixels are cut off ${quote(one.textContent)}`);

  const margin = 6;
  for (const diagram of document.querySelectorAll(".diagram svg")) {
    const boxes = [...diagram.querySelectorAll(".box")].map((box) => box.getBBox());
    for (const text of diagram.querySelectorAll("text")) {
      const at = text.getBBox();
      const [right, bottom] = [at.x + at.width, at.y + at.height];
      for (const box of boxes) {
        const [farX, farY] = [box.x + box.width, box.y + box.height];
        const isOutside = right < box.x || at.x > farX || bottom < box.y || at.y > farY;
        const isInside = at.x >= box.x + margin && right <= farX - margin && at.y >= box.y && bottom <= farY;
        if (!isOutside && !isInside) problems.push(`${quote(text.textContent)} is too near to the edge of a box`);
      }
    }
  }
  return problems;
}
