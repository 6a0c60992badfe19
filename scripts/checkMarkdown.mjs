// Reads every Markdown file of the repository, and fails for an empty section, for a placeholder, and for a link to a file or a heading
// that is not there.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Words that stand for a text that nobody has written. */
const placeholders = /\b(?:TBD|FIXME|XXX|TODO(?=:)|lorem ipsum|coming soon|to be written)\b/i;
const generated = /^<!-- ([a-z]+): .+ -->$/;

/** Finds the faults in these files of `root`, one line each. */
export function findProblems(root, files) {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const lines = withoutCode(text);
    return [...emptySections(lines), ...unwritten(lines), ...deadLinks(root, file, lines)].map(
      ({ line, problem }) => `${file}:${line}: ${problem}`,
    );
  });
}

/** The lines, those of code blocks and of the frontmatter as `code`, and code in the others left out. */
function withoutCode(text) {
  let fence;
  let inFrontmatter = false;
  return text.split("\n").map((line, at) => {
    if (line === "---" && (at === 0 || inFrontmatter)) {
      inFrontmatter = at === 0;
      return "code";
    }
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
    if (fence === undefined ? mark !== undefined : mark?.startsWith(fence)) {
      fence = fence === undefined ? mark : undefined;
      return "code";
    }
    return fence !== undefined || inFrontmatter ? "code" : line;
  });
}

function emptySections(lines) {
  const problems = [];
  let last;
  const end = (depth) => {
    if (last?.isEmpty && depth <= last.depth) problems.push({ line: last.line, problem: "an empty section" });
  };
  for (const [at, line] of lines.entries()) {
    const depth = /^(#+) /.exec(line)?.[1].length;
    if (depth === undefined) {
      if (last !== undefined && line.trim() !== "" && !/^<!--.*-->$/.test(line)) last.isEmpty = false;
    } else {
      end(depth);
      last = { depth, line: at + 1, isEmpty: true };
    }
  }
  end(0);
  return problems;
}

function unwritten(lines) {
  return lines.flatMap((line, at) => {
    const [, name] = generated.exec(line) ?? [];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => one === "<!-- end -->" || generated.test(one));
    const isWritten = rest[end] === "<!-- end -->" && rest.slice(0, end).some((one) => one.trim() !== "");
    if (name !== undefined && name !== "replies" && !isWritten)
      return [{ line: at + 1, problem: `nothing is written for ${line}; run node docs/generate.mjs after a build` }];
    const [word] = placeholders.exec(line.replace(/`[^`]*`/g, "")) ?? [];
    return word === undefined ? [] : [{ line: at + 1, problem: `a placeholder: ${word}` }];
  });
}

function deadLinks(root, file, lines) {
  return lines.flatMap((line, at) => {
    const targets = [...line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)|\bhref="(#[^"]+)"/g)];
    return targets.flatMap(([, link, anchor]) => {
      const target = link ?? anchor;
      const problem = /^(?:[a-z][a-z+]*:|\/)/.test(target) ? undefined : problemOf(root, file, target);
      return problem === undefined ? [] : [{ line: at + 1, problem: `the link ${target} leads nowhere: ${problem}` }];
    });
  });
}

function problemOf(root, file, target) {
  const [path, anchor] = target.split("#");
  const to = path === "" ? join(root, file) : resolve(root, dirname(file), decodeURI(path));
  if (!existsSync(to)) return `there is no ${relative(root, to)}`;
  if (anchor === undefined) return undefined;
  const page = statSync(to).isDirectory() ? join(to, "README.md") : to;
  if (!page.endsWith(".md") || !existsSync(page)) return undefined;
  return headingsOf(page).has(decodeURI(anchor)) ? undefined : `${relative(root, page)} has no such heading`;
}

const known = new Map();

/** The anchors of a page, as GitHub and the site make them. */
function headingsOf(page) {
  if (known.has(page)) return known.get(page);
  const text = readFileSync(page, "utf8");
  const anchors = new Set([...text.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, id]) => id));
  const counts = new Map();
  for (const line of withoutCode(text)) {
    const [, title] = /^#+ (.+)$/.exec(line) ?? [];
    if (title === undefined) continue;
    const anchor = anchorOf(title);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  known.set(page, anchors);
  return anchors;
}

function anchorOf(title) {
  return title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md"];
  const { stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  const files = (stdout ?? "").split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
  // Changelogs and reports of interfaces are written by programs. Templates have empty sections.
  const written = /(?:^|\/)(?:CHANGELOG\.md|api|fixtures|templates)(?:\/|$)|^examples\/[^/]+\/skills\//;
  const read = files.filter((file) => !written.test(file));
  const problems = findProblems(root, read);
  for (const problem of problems) console.error(`markdown: ${problem}`);
  process.exitCode = problems.length > 0 || read.length === 0 ? 1 : 0;
}
