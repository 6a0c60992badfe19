/**
 * Runs in the page: sets the theme and answers what cannot be read. The page must not scroll sideways, nothing may be cut off, and text
 * must have the contrast that WCAG AA asks for: 4.5, or 3 where it is large.
 */
export function findUnreadable(theme) {
  document.documentElement.dataset.theme = theme;
  const problems = [];
  const screen = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > screen) {
    const wide = [...document.body.querySelectorAll("main *")].find(
      (one) => one.getBoundingClientRect().right > screen + 1,
    );
    problems.push(
      `the page is ${document.documentElement.scrollWidth} wide, because of ${wide?.outerHTML.slice(0, 80)}`,
    );
  }
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      known.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  };
  const over = ([r, g, b, a], [r2, g2, b2]) =>
    [r, g, b].map((part, at) => (part * a + [r2, g2, b2][at] * (255 - a)) / 255);
  const behind = (element) => {
    const layers = [];
    for (let one = element; one !== null; one = one.parentElement) {
      const layer = rgba(getComputedStyle(one).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 255) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const background = behind(element);
    const key = `${color} on ${background.map(Math.round)}, ${fontSize}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const [light, dark] = [luminance(over(rgba(color), background)), luminance(background)].sort((a, b) => b - a);
    const size = Number.parseFloat(fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < needed)
      problems.push(`contrast ${contrast.toFixed(1)} of "${node.data.trim().slice(0, 30)}" (${key})`);
  }
  return problems;
}
