// The YAML at the head of a SKILL.md, read leniently: files written for other clients often hold what only their parsers take.
import { isPlainObject } from "@toolcrib/core/internal";
import { parseDocument } from "yaml";

/** Most bytes of the YAML between the two `---` lines. */
export const maxFrontmatterBytes: number = 8 * 1024;

export interface Frontmatter {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The Markdown behind it, trimmed. */
  readonly body: string;
  /** Says what was read although it is not valid; undefined where nothing was mended. */
  readonly mended?: string;
}

/** Splits a SKILL.md into its fields and its text. Throws an Error, in words, for what cannot be understood. */
export function readFrontmatter(content: string): Frontmatter {
  const text = content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const [, yaml = "", body = ""] = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
  if (yaml === "") throw new Error("it does not begin with fields between two lines of ---");
  const bytes = Buffer.byteLength(yaml);
  if (bytes > maxFrontmatterBytes) {
    throw new Error(`its frontmatter has ${bytes} bytes, more than the ${maxFrontmatterBytes} that are read`);
  }
  const fields = parse(yaml);
  if (typeof fields !== "string") return { fields, body: body.trim() };
  const quoted = parse(quoteValues(yaml));
  if (typeof quoted === "string") throw new Error(`its frontmatter is not YAML: ${fields}`);
  return { fields: quoted, body: body.trim(), mended: "its frontmatter has values that YAML wants in quotes" };
}

/** Returns the fields, or the parser's words for what is wrong. Throws an Error for a text without fields, and for aliases that would grow without end. */
function parse(yaml: string): Readonly<Record<string, unknown>> | string {
  const document = parseDocument(yaml, { uniqueKeys: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error) return error.message.split("\n", 1)[0] ?? "";
  const fields: unknown = document.toJS({ maxAliasCount: 20 });
  if (!isPlainObject(fields)) throw new Error("its frontmatter holds no fields");
  return fields;
}

/** Quotes the value of each plain `key: value` line, so that `description: Use when: x` is the text that was meant. */
function quoteValues(yaml: string): string {
  return yaml.replace(/^([\w-]+):[ \t]+(?!["'|>])(\S.*)$/gm, (_, key: string, value: string) => {
    return `${key}: ${JSON.stringify(value.trim())}`;
  });
}
