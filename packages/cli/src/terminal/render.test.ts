import type { AgentEvent } from "@toolcrib/agent";
import { expect, test } from "vitest";
import { createRenderer } from "./render.ts";
import { createStyle } from "./style.ts";

/** Returns what a screen that shows both streams would hold. */
function screen(events: readonly AgentEvent[], to?: "stdout" | "stderr"): string {
  const render = createRenderer(createStyle(false));
  return events
    .flatMap((event) => render(event))
    .filter((piece) => to === undefined || piece.to === to)
    .map(({ text }) => text)
    .join("");
}

const call = (args: Record<string, unknown>): AgentEvent => ({ type: "tool-call", id: "1", name: "read_file", args });
const result = (output: string, isError = false): AgentEvent => ({
  type: "tool-result",
  id: "1",
  name: "read_file",
  output,
  isError,
});
const end: AgentEvent = { type: "end", reason: "stop", text: "" };

test("the answer alone goes to stdout, ending in a line break; the rest to stderr", () => {
  const events: AgentEvent[] = [
    { type: "step-start", step: 1 },
    { type: "reasoning-delta", text: "hm" },
    { type: "text-delta", text: "Let me " },
    { type: "text-delta", text: "look." },
    call({ path: "a.txt" }),
    result("one\ntwo\n"),
    { type: "text-delta", text: "Done.\n" },
    end,
  ];
  expect(screen(events, "stdout")).toBe("Let me look.\nDone.\n");
  expect(screen(events, "stderr")).toBe("  hm\n→ read_file path=a.txt\n✓ read_file: 2 lines, first one\n");
  expect(screen(events)).toBe("  hm\nLet me look.\n→ read_file path=a.txt\n✓ read_file: 2 lines, first one\nDone.\n");
});

test("arguments and results are one line, however long or odd", () => {
  expect(screen([call({ content: `a b"\n${"x".repeat(1000)}`, limit: 3 })])).toMatch(
    /^→ read_file content="a b\\"\\nx+… limit=3\n$/,
  );
  expect(screen([result("a\nb\n\n[truncated: shown 2 lines, there is more]")])).toBe(
    "✓ read_file: 2 lines (cut), first a\n",
  );
  expect(screen([result("")])).toBe("✓ read_file: (nothing)\n");
  // As many as the file has.
  expect(screen([result("\na\n\nb\n")])).toBe("✓ read_file: 4 lines, first a\n");
  expect(screen([result("a\u001b[31m\rb\u0007", true)])).toBe("✗ read_file: a[31m b\n");
  expect(screen([result("y".repeat(5000))]).length).toBeLessThan(200);
});

test("a retry says when, and to ignore the text above", () => {
  const retry: Extract<AgentEvent, { type: "retry" }> = {
    type: "retry",
    attempt: 1,
    delayMs: 1500,
    message: "The service is busy. Check baseURL.",
    remedy: { problem: "The service is busy.", advice: ["Check ", { option: "baseURL" }, "."] },
    discardText: true,
  };
  expect(screen([{ type: "text-delta", text: "Half" }, retry])).toBe(
    "Half\nThe service is busy. Trying again in 1.5 s; ignore the text above.\n",
  );
  const again = { ...retry, discardText: false };
  const other = { ...again, remedy: { problem: "It is gone.", advice: [] } };
  expect(screen([again, again, other, again])).toBe(
    [
      "The service is busy. Trying again in 1.5 s.",
      "It failed the same way. Trying again in 1.5 s.",
      "It is gone. Trying again in 1.5 s.",
      "The service is busy. Trying again in 1.5 s.\n",
    ].join("\n"),
  );
});

test("a call shows invisible characters by their codes", () => {
  expect(screen([call({ path: "a\u200bb\u202ec\u00ad", "x\u2066y": 1 })])).toBe(
    "→ read_file path=a<U+200B>b<U+202E>c<U+00AD> x<U+2066>y=1\n",
  );
});

test("thinking that the service left out is said once, and again when there is more of it", () => {
  const dropped = (blocks: number): AgentEvent => ({
    type: "thinking-dropped",
    blocks,
    reason: "prefix_binding_mismatch",
  });
  const line = "The service left out earlier thinking (prefix_binding_mismatch).\n";
  expect(screen([dropped(1), dropped(1), dropped(2)])).toBe(line + line);
});

test("a call as text that did not run is told", () => {
  const message = "The reply ends in a call of look as text, which did not run: no tool of that name is offered.";
  const event = { type: "unread-call", name: "look", problem: "not-offered", message } as const;
  expect(screen([event])).toBe(`${message}\n`);
});

test("what the model says between calls goes to stderr, whole, before what follows; its reasoning is indented", () => {
  const noted = (text: string): AgentEvent => ({ type: "reasoning-delta", text, isNote: true });
  const events = [
    noted("Reading the "),
    noted("notes.\nThen I answer.\u001b[2J\n"),
    call({ path: "a.txt" }),
    result("one\n"),
  ];
  expect(screen([...events, { type: "reasoning-delta", text: "hm" }, end], "stderr")).toBe(
    "Reading the notes.\nThen I answer.[2J\n→ read_file path=a.txt\n✓ read_file: one\n  hm\n",
  );
  expect(screen([{ type: "text-delta", text: "Hm." }, noted("So."), end])).toBe("Hm.\nSo.\n");
});
