import { expect, test } from "vitest";
import { screenOf } from "../../../fixtures/screen.ts";
import type { Choice } from "../ask.ts";
import { createStyle } from "../style.ts";
import { Picker } from "./panel.ts";

const rows = (...texts: string[]): Choice[] => texts.map((text) => ({ text }));

test("a picker that is open when the input ends picks nothing, and neither does one after it", async () => {
  const { screen, type } = screenOf();
  const picked = screen.pick(rows("one", "two"));
  type(undefined);
  expect(await picked).toBeUndefined();
  expect(await screen.pick(rows("one", "two"))).toBeUndefined();
  expect(await screen.next()).toBeUndefined();
  screen.close();
});

test("a picker shows the rows that hold what is typed, and Enter picks among them", async () => {
  const { screen, type } = screenOf();
  const picked = screen.pick(rows("red fish", "two", "Blue fish"));
  type("fish bl");
  type("\u007f\u007fb\r");
  expect(await picked).toBe(2);
  screen.close();
});

test("the row of a picker is picked with Enter", async () => {
  const { screen, type } = screenOf();
  const picked = screen.pick(rows("one", "two"));
  type("\u001b[B\r");
  expect(await picked).toBe(1);
  screen.close();
});

test("the rows of a group are below the others, and keep their numbers", async () => {
  const picker = new Picker(
    [{ text: "run one", group: "Runs" }, { text: "talk" }, { text: "run two", group: "Runs" }],
    createStyle(false),
    () => {},
  );
  expect(picker.rows(40)).toEqual(["→ talk", "  Runs:", "  run one", "  run two"]);
  const { screen, type } = screenOf();
  const picked = screen.pick([{ text: "run one", group: "Runs" }, { text: "talk" }]);
  type("\u001b[B\r");
  expect(await picked).toBe(0);
  screen.close();
});
