import type { ToolEffect } from "@toolcrib/core";
import { cutHead, showInvisible } from "@toolcrib/core/text";
import type { PathScope } from "@toolcrib/kit/files";

const longestShown = 300;
/** Matches most texts, which are shown as they are. */
const plain = /^[\x20-\x7e]*$/;

/**
 * Writes text as one line for a person: the head and tail of what is longer, with invisible characters and those that move the cursor
 * shown as codes.
 */
export function oneLine(text: string, limit: number = longestShown): string {
  if (text.length <= limit && plain.test(text)) return text;
  const tail = Math.floor(limit / 3);
  const line = showLine(text.length <= 2 * limit ? text : text.slice(0, limit));
  if (text.length <= 2 * limit && line.length <= limit) return line;
  return `${cutHead(line, limit - tail)} … ${cutTail(showLine(text.slice(-limit)), tail)}`;
}

function showLine(text: string): string {
  return showInvisible(text.replace(/\s*\n\s*/g, " ⏎ "));
}

/** Returns the longest tail within `limit` that does not split a surrogate pair. */
function cutTail(text: string, limit: number): string {
  const tail = text.slice(-limit);
  const first = tail.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? tail.slice(1) : tail;
}

/** Describes what an effect does, after "would". */
export function describeEffect(effect: ToolEffect, scope: PathScope): string {
  const { kind, path, tree, command, host, remote, input, into } = effect;
  const files =
    path === undefined
      ? "files that are not named"
      : oneLine(remote === undefined ? scope.print(path) : path) + (tree ? " and all below it" : "");
  switch (kind) {
    case "execute":
      if (input !== undefined) return describeInput(input, into);
      return command === undefined ? "run a program that is not named" : `run: ${oneLine(command)}`;
    case "network":
      return host === undefined ? "use the network" : `reach ${oneLine(host)}`;
    default:
      return `${kind} ${files}`;
  }
}

/** Describes text for a command that runs, with every character as it is: line breaks and spaces are not drawn together. */
function describeInput(text: string, into: string | undefined): string {
  const where = into === undefined ? "a running command" : `the running command ${inQuotes(oneLine(into))}`;
  if (text === "") return `close the input of ${where}`;
  if (text.length <= longestShown) return `give ${where} as input: ${showInvisible(text)}`;
  const tail = text.slice(-longestShown / 3);
  const head = text.slice(0, longestShown - tail.length);
  const more = text.length - longestShown;
  return `give ${where} as input: ${showInvisible(head)} … ${more} more characters … ${showInvisible(tail)}`;
}

function inQuotes(command: string): string {
  return command.includes("`") ? JSON.stringify(command) : `\`${command}\``;
}
