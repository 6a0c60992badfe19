import { stripTerminalSequences } from "@earendil-works/pi-tui/dist/utils.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createStyle } from "../style.ts";
import { createAnswers } from "./markdown.ts";

const block = fc.constantFrom(
  "A paragraph with **bold** words, `code` and a [link](https://example.com) that is longer than one row of the screen.\n\n",
  "- one\n- two that is longer than a row of this screen is\n  - three\n\n",
  `\`\`\`ts\n${Array.from({ length: 12 }, (_, index) => `const value${index} = ${index};`).join("\n")}\n\`\`\`\n\n`,
  "## A heading\n",
  "> quoted\n> twice\n\n",
  "1. first\n2. second\n\n---\n\n",
  "plain\nlines\n\n",
  `| name | what it is for |\n| --- | --- |\n${Array.from({ length: 9 }, (_, index) => `| file${index}.ts | ${"words ".repeat(index)}|\n`).join("")}\n`,
);

const visible = (rows: readonly string[]): string => rows.map(stripTerminalSequences).join("").replace(/\s/g, "");

test.each([true, false])("an answer is the same, however it comes in pieces (colours: %j)", (isColored) => {
  const createAnswer = createAnswers(createStyle(isColored), isColored);
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (blocks, size) => {
      const text = blocks.join("");
      const whole = createAnswer();
      whole.append(text);
      const answer = createAnswer();
      const rows: string[] = [];
      for (let at = 0; at < text.length; at += size) {
        answer.append(text.slice(at, at + size));
        rows.push(...answer.rows(40, 6).done);
      }
      rows.push(...answer.end(40));
      expect(visible(rows)).toBe(visible(whole.end(40)));
    }),
    { numRuns: 40 },
  );
});

test("rows that are not complete are given again in another width, and none of those before", () => {
  const answer = createAnswers(createStyle(true), true)();
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const rows: string[] = [];
  answer.append("```\n");
  for (const [index, line] of lines.entries()) {
    answer.append(`${line}\n`);
    rows.push(...answer.rows(index % 2 === 0 ? 40 : 20, 4).done);
  }
  rows.push(...answer.end(40));
  expect(
    rows
      .map(stripTerminalSequences)
      .join("\n")
      .match(/line \d+/g),
  ).toEqual(lines);
});

test.each([40, 80])("a table that is higher than the window has each row once at %i columns", (columns) => {
  const answer = createAnswers(createStyle(true), true)();
  const cells = Array.from({ length: 40 }, (_, index) => `cell${index}x`);
  const text = `| name | what |\n| --- | --- |\n${cells.map((cell, index) => `| ${cell} | ${"w".repeat(index)} |\n`).join("")}`;
  const rows: string[] = [];
  for (let at = 0; at < text.length; at += 7) {
    answer.append(text.slice(at, at + 7));
    const { done, open } = answer.rows(columns, 6);
    rows.push(...done);
    expect(open.length).toBeLessThanOrEqual(6);
  }
  rows.push(...answer.end(columns));
  const shown = rows.map(stripTerminalSequences).join("\n");
  expect(shown.match(/cell\d+x/g)).toEqual(cells);
  expect(shown.match(/w/g)).toHaveLength((40 * 39) / 2 + 1);
});

test("a block that would take ever longer to render is divided, and code stays code", () => {
  const answer = createAnswers(createStyle(true), true)();
  const lines = Array.from({ length: 3000 }, (_, index) => `**line ${index}**`);
  const rows: string[] = [];
  answer.append("```\n");
  for (let at = 0; at < lines.length; at += 500) {
    answer.append(`${lines.slice(at, at + 500).join("\n")}\n`);
    rows.push(...answer.rows(40, 4).done);
  }
  rows.push(...answer.end(40));
  expect(
    rows
      .map(stripTerminalSequences)
      .join("\n")
      .match(/\*\*line \d+\*\*/g),
  ).toEqual(lines);
});
