import { published } from "./sources.mjs";

/** The form of a line of `npm install` for each package manager. Yarn 4 has no global installs. */
const managers = {
  npm: (line) => line,
  pnpm: (line) => added(line, "pnpm add", "--save-dev", "--save-exact"),
  yarn: (line) => (line.includes("--global") ? undefined : added(line, "yarn add", "--dev", "--exact")),
  bun: (line) => added(line, "bun add", "--dev", "--exact"),
};

/**
 * Turns each block of `sh` that holds lines of `npm install` alone into a tab for each package manager. The tabs are radio buttons:
 * no script is needed.
 */
export function installTabs(text, id) {
  let count = 0;
  return withNotes(text, id).replace(/^```sh\n((?:npm install [^\n]+\n)+)```$/gm, (_block, lines) =>
    tabs(lines, `${id}-${count++}`),
  );
}

/** While the packages are not on the registry, a line under each block that installs them says how to do so until then. */
function withNotes(text, id) {
  if (published || /^(?:guides\/start|releasing)$/.test(id) || text.includes('class="unpublished"')) return text;
  const asks = id.startsWith("examples/") ? /^npm install\b/m : /\b(?:npm install\b.*|npx (?:-\S+ )*)@toolcrib\//;
  return text.replace(/^```(?:sh|yaml)\b.*\n[\s\S]*?^```$/gm, (block) => (asks.test(block) ? block + note : block));
}

const note =
  '\n\n<p class="unpublished">Not on the npm registry yet: <a href="/guides/start/#until-they-are-on-npm">install from a clone</a> until then.</p>\n';

function tabs(lines, id) {
  const key = id.replaceAll(/[^a-z0-9]+/g, "-");
  const shown = Object.entries(managers)
    .map(([name, write]) => [name, lines.trim().split("\n").map(write)])
    .filter(([, written]) => !written.includes(undefined));
  const inputs = shown.map(
    ([name], at) =>
      `<input type="radio" name="tabs-${key}" id="tab-${key}-${name}" class="tab-${at}"${at === 0 ? " checked" : ""}>` +
      `<label for="tab-${key}-${name}">${name}</label>`,
  );
  const panels = shown.map(([, written]) => `<div class="panel">\n\n\`\`\`sh\n${written.join("\n")}\n\`\`\`\n\n</div>`);
  return `<div class="install">\n${inputs.join("\n")}\n${panels.join("\n")}\n</div>\n`;
}

function added(line, add, dev, exact) {
  return line.replace("npm install", add).replace("--save-dev", dev).replace("--save-exact", exact);
}
