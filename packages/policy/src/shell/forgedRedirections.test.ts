import { parse, type Redirection } from "unbash";
import { expect, test } from "vitest";
import { LineOutput } from "./lineContext.ts";
import { LineReader } from "./readCommand.ts";
import { readRedirection } from "./readRedirection.ts";

function firstOf(line: string): Redirection {
  const command = parse(line).commands[0]?.command;
  const node = command?.type === "Command" ? command.redirects[0] : undefined;
  if (node === undefined) throw new Error("no redirection");
  return node;
}

/** The problem with the first redirection of a line, changed as a parser must never do. */
function problem(line: string, change: object, isBash = false): string | undefined {
  const output = new LineOutput();
  const forged = { ...firstOf(line), ...change } as Redirection;
  readRedirection(forged, new LineReader(line, { isBash, mayBeOld: false }, output, 0));
  return output.unreadable;
}

const redirection = "A redirection in it could not be read.";
const document = "A here-document in it could not be read.";

test("a redirection is refused that is not the text of the line", () => {
  expect(problem("ls 2>  a", {})).toBeUndefined();
  expect(problem("ls 2> a", { operator: "<" })).toBe(redirection);
  expect(problem("ls 2> a", { target: undefined })).toBe(redirection);
  expect(problem("ls 2> a", { descriptor: undefined })).toBe(redirection);
  expect(problem("ls > a", { pos: 2 })).toBe(redirection);
  expect(problem("cat <<< a", { operator: "<<" }, true)).toBe(redirection);
});

const line = "cat <<E\na\nE\nls\nE\n";
// Where the body of that document lies.
const body = { type: "HereDocBody", pos: 8, end: 10, text: "a\n", parts: undefined };

test("a here-document is refused that does not end where the shell ends it", () => {
  expect(problem(line, {})).toBeUndefined();
  expect(problem(line, { operator: "<<-" })).toBe(document);
  expect(problem(line, { closing: undefined })).toBe(document);
  expect(problem(line, { closing: { pos: 10, end: 12 } })).toBe(document);
  expect(problem(line, { closing: { pos: 12, end: 14 } })).toBe(document);
  expect(problem(line, { body: { ...body, end: 15 }, closing: { pos: 15, end: 16 } })).toBe(document);
  expect(problem(line, { body: { ...body, end: 9 } })).toBe(document);
  expect(problem("cat <<E\na\nEx\nE\n", { closing: { pos: 10, end: 11 }, body: { ...body, end: 10 } })).toBe(document);
  expect(problem("cat <<-E\n\ta\n\tE\n", {})).toBeUndefined();
});
