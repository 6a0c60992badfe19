/** The search of the page, and its button. It reads the text of the page and changes nothing but what is open and shown. */
export const script: string = `"use strict";
(() => {
  const turns = [...document.querySelectorAll(".turn")];
  const calls = [...document.querySelectorAll("main details")];
  const [tools, search, count, all] = [document.querySelector(".tools"), ...["search", "count", "all"].map((id) => document.getElementById(id))];
  tools.hidden = false;
  if (matchMedia("(max-width: 999px)").matches) document.querySelector("nav details").open = false;
  const opened = new Set();
  const texts = new Map();
  const textOf = (element) => {
    if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
    return texts.get(element);
  };
  const mark = (words) => {
    if (!window.CSS || !CSS.highlights) return;
    CSS.highlights.clear();
    if (words === "") return;
    const ranges = [];
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
      const lower = node.data.toLowerCase();
      if (lower.length !== node.data.length) continue;
      for (let at = lower.indexOf(words); at >= 0 && ranges.length < 2000; at = lower.indexOf(words, at + words.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + words.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };
  const find = () => {
    const words = search.value.trim().toLowerCase();
    for (const call of opened) call.open = false;
    opened.clear();
    let found = 0;
    for (const turn of turns) {
      const isFound = words === "" || textOf(turn).includes(words);
      turn.hidden = !isFound;
      if (isFound) found += 1;
    }
    if (words !== "")
      for (const call of calls)
        if (!call.open && textOf(call).includes(words)) {
          call.open = true;
          opened.add(call);
        }
    count.textContent = words === "" ? "" : found + " of " + turns.length + " turns";
    mark(words);
  };
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, 120);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      find();
    }
  });
  all.addEventListener("click", () => {
    const isOpen = all.getAttribute("aria-pressed") !== "true";
    all.setAttribute("aria-pressed", String(isOpen));
    all.textContent = isOpen ? "Close all" : "Open all";
    opened.clear();
    for (const call of calls) call.open = isOpen;
  });
})();`;
