import { kindOf, quote } from "@toolcrib/core/internal";
import { clip } from "@toolcrib/core/text";
import { longestPath, type PathStyle } from "./pathStyle.ts";

/** Makes the error for a pattern that cannot be used. */
export function malformed(pattern: string, reason: string): TypeError {
  return new TypeError(`Invalid path pattern ${quote(clip(pattern))}: ${reason}`);
}

type Anchor = "root" | "home" | "top";

export interface ReadPattern {
  /** Without what `anchor`, `top` and `directoryOnly` say; empty for the anchor's directory itself. */
  glob: string;
  directoryOnly: boolean;
  /** The place where it starts; undefined for a name at any depth. */
  anchor: Anchor | undefined;
  /** The drive or share that it names, on Windows. */
  top: string;
}

/** Reads a pattern, but for its wildcards. Throws a TypeError for a malformed one. */
export function readPattern(pattern: unknown, style: PathStyle): ReadPattern {
  if (typeof pattern !== "string") throw new TypeError(`A path pattern must be a string, got ${kindOf(pattern)}`);
  const problem = whatIsWrong(pattern, style);
  if (problem !== undefined) throw malformed(pattern, problem);
  const top = style.sep === "\\" ? (driveOrShare.exec(pattern)?.[0] ?? "") : "";
  const anchor = top === "" ? anchorOf(pattern) : "top";
  const start = anchor === "home" ? /^~\/*/ : anchor === "root" ? /^(?:\.(?:\/+|$))*/ : /^\/*/;
  const glob = pattern.slice(top.length).replace(start, "");
  const directoryOnly = pattern.endsWith("/");
  const plain = directoryOnly && glob !== "" ? glob.slice(0, -1) : glob;
  if (plain !== "" && plain.split("/").some((name) => name === "" || name === "." || name === "..")) {
    throw malformed(pattern, "no path holds an empty name, . or ..; write it without");
  }
  return { glob: plain, directoryOnly, anchor, top };
}

/** Matches what a pattern of Windows may begin with: `C:` or `//server/share`. */
const driveOrShare = /^(?:[A-Za-z]:(?=\/)|\/\/[^/*?[\\]+\/[^/*?[\\]+(?=\/|$))/;
/** One that stands between names on Windows, as far as can be told: it escapes nothing that has a meaning. */
const separator = /\\(?![*?[\]!#{}()\\ ^-])/;

function whatIsWrong(pattern: string, style: PathStyle): string | undefined {
  if (pattern === "") return "it is empty; leave it out";
  if (pattern.includes("\0")) return "it contains a NUL character, which no path does";
  if (/^[ \t\r\n]/.test(pattern))
    return "it begins with a blank, which would be part of the name; leave it out, or write \\ before it";
  if (/(?<!\\)(?:\\\\)*\n/.test(pattern)) return "it holds a line end; write each line as an entry of its own";
  if (pattern.startsWith("!"))
    return "it starts with !, but exceptions are not supported; write \\! for the character itself";
  if (style.sep === "\\" && (pattern.startsWith("\\\\") || separator.test(pattern)))
    return "it holds a \\, which escapes the next character; write / between names";
  return Buffer.byteLength(pattern) > longestPath ? `it is longer than ${longestPath} bytes` : undefined;
}

function anchorOf(pattern: string): Anchor | undefined {
  if (pattern === "~" || pattern.startsWith("~/")) return "home";
  if (pattern.startsWith("/")) return "top";
  return /^\.\/?$/.test(pattern) || pattern.slice(0, -1).includes("/") ? "root" : undefined;
}
