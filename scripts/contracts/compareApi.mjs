// Two reports of API Extractor compared, by name. What cannot be shown to be harmless is breaking.

/**
 * Changes from one report of a subpath to another: `{ name, severity, message }`.
 * @param {string} before @param {string} after @param {string} specifier such as `@toolcrib/kit/files`
 */
export function compareApi(before, after, specifier) {
  const [was, is] = [declarations(before), declarations(after)];
  const changes = [];
  const add = (name, severity, message) => changes.push({ name, severity, message });
  for (const [name, old] of was) {
    const now = is.get(name);
    if (old.isExported && !now?.isExported) {
      add(name, "breaking", `${specifier} no longer exports ${name}. Code that imports it does not compile.`);
    } else if (now && now.text !== old.text) {
      // A type that is not exported matters where it is gone, too: but then the text of an export that names it has changed.
      if (onlyAddsOptional(old.text, now.text))
        add(name, "addition", `${name} of ${specifier} has more that is optional.`);
      else
        add(
          name,
          "breaking",
          `${name} of ${specifier} has changed: ${difference(old.text, now.text)}. Code that uses it may not compile.`,
        );
    }
  }
  for (const [name, { isExported }] of is) {
    if (isExported && !was.get(name)?.isExported) add(name, "addition", `${specifier} exports ${name}, which is new.`);
  }
  return changes;
}

/** By name: the text of all declarations without comments, and whether it is exported. */
function declarations(report) {
  const found = new Map();
  const code = /```ts\n([\s\S]*?)```/.exec(report)?.[1] ?? "";
  for (const block of code.split(/\n\n+/)) {
    const lines = block.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
    const text = lines.join("\n");
    const listed = /^export \{([^}]*)\}/.exec(text);
    if (listed) {
      for (const each of listed[1].split(",")) {
        const [own, as = own] = each.trim().split(/ as /);
        if (own) found.set(as, { text: found.get(as)?.text ?? `export { ${each.trim()} }`, isExported: true });
      }
      continue;
    }
    const name =
      /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const|let|var|enum|namespace) ([\w$]+)/.exec(
        text,
      )?.[1];
    if (!name) continue;
    const own = text.replace(/^export /, "");
    const known = found.get(name);
    // Overloads, and a type with the name of a function, are blocks of their own.
    found.set(name, {
      text: known ? `${known.text}\n${own}` : own,
      isExported: text.startsWith("export ") || known?.isExported,
    });
  }
  return found;
}

/** Returns whether the only differences are new optional members and parameters. */
function onlyAddsOptional(before, after) {
  const [was, is] = [before.split("\n"), after.split("\n")];
  let at = 0;
  let depth = 0;
  for (const line of is) {
    if (depth === 0 && at < was.length && (line === was[at] || hasMoreParameters(was[at], line))) at += 1;
    else if (depth > 0 || /^\s+(?:readonly )?[\w$"'-]+\?(?:: .*[;{,]|\(.*\).*;)$/.test(line)) depth += nesting(line);
    else return false;
  }
  return at === was.length && depth === 0;
}

function nesting(line) {
  return (line.match(/\{/g)?.length ?? 0) - (line.match(/\}/g)?.length ?? 0);
}

/** `f(a: string): void` and `f(a: string, b?: number): void`. */
function hasMoreParameters(before, after) {
  const shared = [...before].findIndex((letter, index) => letter !== after[index]);
  const rest = before.slice(shared);
  if (shared < 0 || !after.endsWith(rest) || !/^[,)]/.test(rest)) return false;
  const added = after.slice(shared, after.length - rest.length);
  return /^(?:, )?[\w$]+\?: [^;]*$/.test(added) && (rest.startsWith(")") || !added.startsWith(","));
}

const longestShown = 200;

/** The first line of each side that the other has not. */
function difference(before, after) {
  const [was, is] = [before.split("\n"), after.split("\n")];
  const show = (line) => (line === undefined ? undefined : line.trim().slice(0, longestShown));
  const [gone, added] = [show(was.find((line) => !is.includes(line))), show(is.find((line) => !was.includes(line)))];
  if (gone && added) return `\`${gone}\` is \`${added}\``;
  if (gone) return `\`${gone}\` is gone`;
  return added ? `\`${added}\` is new` : "its lines have another order";
}
