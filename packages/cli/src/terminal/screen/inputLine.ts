import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { SelectListTheme } from "@earendil-works/pi-tui/dist/components/select-list.js";
import { KeybindingsManager, setKeybindings, TUI_KEYBINDINGS } from "@earendil-works/pi-tui/dist/keybindings.js";
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { CURSOR_MARKER, type TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { showInvisible } from "@toolcrib/core/text";
import type { Completions } from "../chatLines.ts";
import type { Style } from "../style.ts";
import type { CursorPlace, Surface } from "./liveRows.ts";

export function listTheme({ cyan, dim }: Style): SelectListTheme {
  return { selectedPrefix: cyan, selectedText: cyan, description: dim, scrollInfo: dim, noMatch: dim };
}

const border = "\u0000";

/** The message that is typed: its rows behind a prompt, and what could complete it below. */
export class InputLine extends Editor {
  #offeredFor = "";

  constructor(surface: Surface, style: Style, onChange: () => void) {
    setKeybindings(
      new KeybindingsManager(TUI_KEYBINDINGS, { "tui.input.newLine": ["shift+enter", "alt+enter", "ctrl+j"] }),
    );
    const theme = { borderColor: style.dim, selectList: listTheme(style) };
    // All of a screen that an editor asks for.
    const screen = { requestRender: onChange, terminal: surface } as unknown as TUI;
    super(screen, theme, { paddingX: 2, autocompleteMaxVisible: Math.min(12, surface.rows - 6) });
    this.focused = true;
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    return hidden > 0 ? this.borderColor(`  ↑ ${hidden} more`) : border;
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    return hidden > 0 ? this.borderColor(`  ↓ ${hidden} more`) : border;
  }

  /** Drops suggestions for a text that has changed since. */
  override handleInput(key: string): void {
    const isStale = this.isShowingAutocomplete() && this.#offeredFor !== this.getText();
    if (isStale && (matchesKey(key, "enter") || matchesKey(key, "tab"))) super.handleInput("\u001b");
    const before = this.getText();
    super.handleInput(key);
    // Of an earlier message the end, where people go on typing.
    if (matchesKey(key, "up") && this.getText() !== before) super.handleInput("\u0005");
  }

  completeWith(provider: AutocompleteProvider): void {
    this.setAutocompleteProvider({
      ...provider,
      getSuggestions: async (lines, ...where) => {
        const text = lines.join("\n");
        const suggestions = await provider.getSuggestions(lines, ...where);
        this.#offeredFor = text;
        return suggestions;
      },
    });
  }

  /** Returns its rows with the place of the cursor in them. */
  draw(width: number): { readonly rows: string[]; readonly cursor: CursorPlace } {
    const [top = border, first = "", ...others] = this.render(width);
    const rows = [top, `> ${first.slice(2)}`, ...others].filter((row) => row !== border);
    const at = rows.findIndex((row) => row.includes(CURSOR_MARKER));
    const column = visibleWidth((rows[at] ?? "").split(CURSOR_MARKER)[0] ?? "");
    // The terminal's own cursor stands there, not a painted one.
    rows[at] = (rows[at] ?? "").replace(CURSOR_MARKER, "").replace(/\u001b\[7m(.*?)\u001b\[0m/, "$1");
    return { rows, cursor: { row: at, column } };
  }
}

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
