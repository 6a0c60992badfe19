import { ScreenModel } from "@toolcrib/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LiveRows, type Surface } from "./liveRows.ts";

function onScreen(columns: number, rows: number): { screen: ScreenModel; live: LiveRows; surface: Surface } {
  const screen = new ScreenModel(columns, rows);
  const write = (text: string): void => void screen.write(text);
  const surface = { write, columns, rows, isColored: true, reflows: true };
  return { screen, live: new LiveRows(surface), surface };
}

const row = fc.stringMatching(/^[a-c]{0,8}( [a-c]{1,5})?$/);
/** Rows that begin alike, in colours, with letters of two cells and of two characters. */
const coloured = fc
  .tuple(
    fc.constantFrom("", "\u001b[32m"),
    fc.stringMatching(/^(?:ab){0,4}$/),
    fc.constantFrom("", "日本", "e\u0301x", "z"),
  )
  .map(([colour, start, end]) => `${colour}${start}${end}${colour && "\u001b[39m"}`);
const step = fc.record({ done: fc.array(row, { maxLength: 5 }), rows: fc.array(row, { minLength: 1, maxLength: 4 }) });

test("whatever is drawn, the screen holds every row that was printed for good, in order, and then the last rows", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { screen, live } = onScreen(20, 6);
      const printed: string[] = [];
      for (const { done, rows } of steps) {
        live.draw(done, rows, { row: rows.length - 1, column: 0 });
        printed.push(...done);
        await screen.write("");
        expect(screen.text).toBe([...printed, ...rows].join("\n").trimEnd());
        expect(screen.cursor).toEqual({ row: printed.length + rows.length - 1, column: 0 });
      }
    }),
    { numRuns: 60 },
  );
});

test("a row that changes is written over, with its colours and letters of any width", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(coloured, { minLength: 1, maxLength: 4 }), { minLength: 1 }),
      async (drawings) => {
        const { screen, live } = onScreen(20, 8);
        const fresh = onScreen(20, 8);
        for (const rows of drawings) live.draw([], rows, { row: rows.length - 1, column: 0 });
        const last = drawings.at(-1) ?? [];
        fresh.live.draw([], last, { row: last.length - 1, column: 0 });
        await Promise.all([screen.write(""), fresh.screen.write("")]);
        expect(cellsOf(screen)).toEqual(cellsOf(fresh.screen));
      },
    ),
    { numRuns: 100 },
  );
});

/** Each letter of a screen with its colour. */
function cellsOf({ terminal, text }: ScreenModel): string[] {
  return text.split("\n").map((_row, index) => {
    const line = terminal.buffer.active.getLine(index);
    return Array.from({ length: 20 }, (_, column) => {
      const cell = line?.getCell(column);
      return cell?.getChars().trim() ? `${cell.getChars()}${cell.getFgColor()}` : "";
    }).join(" ");
  });
}

test("only what differs is written: the end of a row that grows, nothing of one that stays", () => {
  const { screen, live } = onScreen(40, 10);
  live.draw([], ["first", "grows", "last"], { row: 2, column: 0 });
  const before = screen.raw.length;
  live.draw([], ["first", "grows!", "last"], { row: 2, column: 0 });
  expect(screen.raw.slice(before)).toBe("\u001b[?2026h\u001b[1A\u001b[6G!\r\n\u001b[1G\u001b[?2026l");
  const after = screen.raw.length;
  live.draw([], ["first", "grows!", "last"], { row: 2, column: 0 });
  // A row that is printed for good where it stands is not written again.
  live.draw(["first"], ["grows!", "last"], { row: 1, column: 0 });
  expect(screen.raw.length).toBe(after);
});

test("a window that gets narrower loses no printed row", async () => {
  const { screen, live, surface } = onScreen(20, 8);
  live.draw(["printed"], ["a row of 18 letters", "> typed"], { row: 1, column: 7 });
  await screen.write("");
  screen.resize(10, 8);
  Object.assign(surface, { columns: 10 });
  live.draw([], ["short", "> typed"], { row: 1, column: 7 });
  await screen.write("");
  expect(screen.text).toBe("printed\nshort\n> typed");
});

test("rows that cover the screen leave it as it was, and what was printed meanwhile comes then", async () => {
  const { screen, live } = onScreen(20, 4);
  live.draw(["first", "second", "third"], ["> typed"], { row: 0, column: 7 });
  live.cover(["a", "b", "c", "d"]);
  live.cover(["b", "c", "d\u001b[2J"]);
  await screen.write("");
  expect(screen.text).toBe("b\nc\nd[2J");
  live.draw(["fourth"], ["> typed"], { row: 0, column: 7 });
  await screen.write("");
  expect(screen.text).toBe("first\nsecond\nthird\nfourth\n> typed");
  expect(screen.cursor).toEqual({ row: 4, column: 7 });
});

test("what is scrolled away stays in the terminal's history, and the next rows stand at the top", async () => {
  const { screen, live } = onScreen(20, 4);
  live.draw(["first", "second"], ["status", "> typed"], { row: 1, column: 7 });
  live.scrollAway();
  live.draw(["third"], ["> typed"], { row: 0, column: 7 });
  await screen.write("");
  const { active } = screen.terminal.buffer;
  expect(screen.text).toBe("first\nsecond\nthird\n> typed");
  expect(active.getLine(active.baseY)?.translateToString(true)).toBe("third");
});

test("no control code but those of colours gets through, and without colours none", async () => {
  const { screen, live, surface } = onScreen(40, 8);
  const hostile = "a\u001b[2Jb\u001b]0;x\u0007\u009b3Jc\rd\u001b[31me";
  live.draw([hostile], ["> "], { row: 0, column: 2 });
  await screen.write("");
  expect(screen.text).toBe("a[2Jb]0;x3Jcde\n>");
  Object.assign(surface, { isColored: false });
  const before = screen.raw.length;
  live.draw([hostile], ["> "], { row: 0, column: 2 });
  expect(screen.raw.slice(before)).not.toContain("\u001b[31m");
});
