import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { showInvisible } from "@toolcrib/core/text";
import type { Completions } from "../chatLines.ts";

const mostItems = 50;

/** Names a file; a folder with blanks leaves the quotes open, as more of the name follows. */
function named(path: string): string {
  if (!path.includes(" ")) return `@${path}`;
  return path.endsWith("/") ? `@"${path}` : `@"${path}"`;
}

/** Completes a command at the beginning of a message, what a command takes, and the name of a file after `@`. */
export function completionProvider(completions: Completions): AutocompleteProvider {
  const command = async (text: string): Promise<AutocompleteItem[]> => {
    const words = text.slice(1).split(/\s+/);
    const typed = words.pop() ?? "";
    const [name] = words;
    const found =
      name === undefined
        ? completions.commands.map((one) => ({
            value: `/${one.name}`,
            label: `/${one.name}`,
            description: one.summary,
          }))
        : (await completions.wordsAfter(name, words.slice(1))).map((value) => ({ value, label: value }));
    const start = name === undefined ? `/${typed}` : typed;
    // A full match comes first: Enter takes it.
    return found
      .filter(({ value }) => value.startsWith(start) && (name === undefined || value !== typed))
      .sort((a, b) => Number(b.value === start) - Number(a.value === start));
  };
  return {
    async getSuggestions(lines, row, column, { signal }) {
      const text = (lines[row] ?? "").slice(0, column);
      // A name in quotes may hold blanks.
      const word = /(?:(?<!\S)@"[^"]*|\S*)$/.exec(text)?.[0] ?? "";
      const isCommand = row === 0 && text.startsWith("/");
      if (!isCommand && !word.startsWith("@")) return null;
      const items = isCommand
        ? await command(text)
        : (await completions.files(word.replace(/^@"?/, ""), signal)).map((path) => ({
            value: named(path),
            label: path,
          }));
      const shown = items.filter(
        ({ value, label }) =>
          showInvisible(value) === value && !label.includes('"') && (!isCommand || !value.includes(" ")),
      );
      return { items: shown.slice(0, mostItems), prefix: word };
    },
    applyCompletion(lines, row, column, { value }, prefix) {
      const line = lines[row] ?? "";
      const start = `${line.slice(0, column - prefix.length)}${value}${value.endsWith("/") ? "" : " "}`;
      return {
        lines: lines.with(row, start + line.slice(column).trimStart()),
        cursorLine: row,
        cursorCol: start.length,
      };
    },
    shouldTriggerFileCompletion: () => true,
  };
}
