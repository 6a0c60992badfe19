import { watchLoop } from "@toolcrib/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { screenOf } from "../../../fixtures/screen.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const prose = Array.from(
  { length: 40 },
  (_, index) =>
    `Paragraph ${index} has words of usual length, so that its rows are wrapped where they end, and goes on.\n\n`,
).join("");
const list = Array.from({ length: 60 }, (_, index) => `- item ${index} with \`code\` and words that explain it\n`).join(
  "",
);
const lines = Array.from({ length: 120 }, (_, index) => `const value${index} = compute(${index}, "some text");\n`);

describe("an answer that streams by 12 characters every 4 ms", () => {
  test.each([
    ["prose", prose, 1.9],
    ["a list", list, 2.5],
    ["code", `\`\`\`ts\n${lines.join("")}\`\`\`\n`, 2.6],
  ])("of %s writes few bytes for each of its own", async (_what, text, most) => {
    const { screen, written } = screenOf({ colors: true });
    const view = await screen.startTurn();
    await vi.advanceTimersByTimeAsync(100);
    written.length = 0;
    for (const piece of text.match(/[\s\S]{1,12}/g) ?? []) {
      view.show({ type: "text-delta", text: piece });
      await vi.advanceTimersByTimeAsync(4);
    }
    view.end();
    await vi.advanceTimersByTimeAsync(100);
    expect(Buffer.byteLength(written.join("")) / text.length).toBeLessThan(most);
    screen.close();
  });

  test("echoes a key before the next drawing would come", async () => {
    const { screen, written, type } = screenOf({ colors: true });
    const view = await screen.startTurn();
    for (let piece = 0; piece < 50; piece += 1) {
      view.show({ type: "text-delta", text: "some words, " });
      await vi.advanceTimersByTimeAsync(4);
      if (piece % 10 !== 5) continue;
      written.length = 0;
      type("Q");
      await vi.advanceTimersByTimeAsync(2);
      expect(written.join("")).toContain("Q");
      type("\u007f");
      await vi.advanceTimersByTimeAsync(2);
    }
    view.end();
    screen.close();
  });

  test("echoes keys while a long list comes, which takes no more than a frame of processor time at once", async () => {
    vi.useRealTimers();
    const { screen, written, type } = screenOf({ colors: true });
    let longest = Number.POSITIVE_INFINITY;
    // At first much of the code is not compiled yet, and memory may be collected in any of the rounds.
    for (let round = 0; round < 5 && longest >= 16; round += 1) {
      const view = await screen.startTurn();
      const loop = watchLoop();
      for (let key = 0; key < 40; key += 1) {
        for (const text of list.match(/.*\n/g)?.slice(0, 25) ?? []) view.show({ type: "text-delta", text });
        written.length = 0;
        type("k");
        while (!written.join("").includes("k")) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      longest = Math.min(longest, loop.stop());
      view.end();
      type("\u0015");
    }
    expect(longest).toBeLessThan(16);
    screen.close();
  });
});
