import type { HereDoc, Redirect, Redirection } from "unbash";
import type { LineContext } from "./lineContext.ts";
import { readDocument, readWord } from "./readWord.ts";

const writes = new Set([">", ">>", ">|", "<>", "&>", "&>>"]);

/** Reads one redirection: the file it opens, or the text of its here-document. */
export function readRedirection(node: Redirection, reader: LineContext): void {
  reader.cover(node);
  // dash knows descriptors of one digit only.
  const descriptor = node.descriptor;
  const digit = descriptor === undefined ? "" : reader.line.slice(descriptor.pos, descriptor.end);
  if (descriptor !== undefined && !/^[0-9]$/.test(digit))
    reader.fail("It redirects a descriptor that sh and bash read differently.");
  if (node.type === "HereDoc") {
    readHereDocument(node, digit, reader);
    return;
  }
  const before = reader.line.slice(node.pos, node.target?.pos ?? node.end);
  if (node.target === undefined || before.replace(/[ \t]+$/, "") !== digit + node.operator) {
    reader.fail("A redirection in it could not be read.");
    return;
  }
  if (node.type === "HereString") {
    if (!reader.isBash) reader.fail("It has <<<, which sh and bash read differently.");
    reader.noteDocument(readWord(node.target, reader).variables);
  } else readFile(node, node.target.text, reader);
}

function readFile({ operator, target }: Redirect, written: string, reader: LineContext): void {
  if (operator === ">&" || operator === "<&") {
    if (!/^(?:[0-9]|-)$/.test(written))
      reader.fail(`It has ${operator} with a word, which sh and bash read differently.`);
    return;
  }
  if (operator.startsWith("&") && !reader.isBash)
    reader.fail(`It has ${operator}, which sh and bash read differently.`);
  if (target === undefined) return;
  const { kind, value } = readWord(target, reader);
  if (kind !== "literal" || value === "") {
    reader.fail("It redirects to a file that is not written out.");
    return;
  }
  if (/^\/+dev\/+(?:tcp|udp)\//.test(value)) reader.fail("It redirects to the network.");
  reader.output.redirections.push({ kind: writes.has(operator) ? "write" : "read", path: value });
  if (operator === "<>") reader.output.redirections.push({ kind: "read", path: value });
}

function readHereDocument(node: HereDoc, digit: string, reader: LineContext): void {
  const { line } = reader;
  reader.noteDocument([]);
  const { body, closing, operator } = node;
  const head =
    /^[0-9]?(<<-?)[ \t]*(?:([A-Za-z0-9_.-]+)|'([A-Za-z0-9_.-]+)'|"([A-Za-z0-9_.-]+)"|\\([A-Za-z0-9_.-]+))$/.exec(
      line.slice(node.pos, node.end),
    );
  const word = head?.slice(2).find((each) => each !== undefined);
  if (head?.[1] !== operator || word === undefined || closing === undefined || !line.startsWith(digit, node.pos)) {
    reader.fail("A here-document in it could not be read.");
    return;
  }
  reader.cover(body);
  reader.cover(closing);
  const text = line.slice(body.pos, body.end);
  const ends = (each: string): boolean => (operator === "<<-" ? each.replace(/^\t+/, "") : each) === word;
  const closes = ends(line.slice(closing.pos, closing.end)) && ["\n", ""].includes(line.charAt(closing.end));
  const between = line.slice(body.end, closing.pos);
  if (!closes || !/^\t*$/.test(between) || text.split("\n").some(ends) || (text !== "" && !text.endsWith("\n"))) {
    reader.fail("A here-document in it could not be read.");
  }
  if (head[2] === undefined) return;
  // A line that goes on joins the next one, which may then be the end of the document, or not.
  if (text.includes("\\\n")) reader.fail("A here-document in it has a line that is continued.");
  reader.noteDocument(readDocument(body, reader));
}
