/**
 * Runs in the page and returns the first line that installs one of our packages, if the page does not say that they are not on the registry yet. An
 * example installs them by its `package.json`; the page about releases is about the registry itself.
 */
export function findUnnoted() {
  const isExample = /^\/examples\/./.test(location.pathname);
  const asks = isExample ? /^npm install\b/ : /\b(?:npm install\b.*|npx (?:-\S+ )*)@toolcrib\//;
  const isNoted = document.querySelector(".unpublished, #until-they-are-on-npm") !== null;
  if (isNoted || location.pathname === "/releasing/") return [];
  const lines = [...document.querySelectorAll("main :is(.ec-line, p, li, td)")].map((line) => line.textContent.trim());
  return lines
    .filter((line) => asks.test(line))
    .slice(0, 1)
    .map((line) => `nothing says that the packages are not on the registry yet: ${line.slice(0, 80)}`);
}
