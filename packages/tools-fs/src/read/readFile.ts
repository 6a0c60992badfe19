import { defineTool, type ExecutableTool, invalidArgument, toolOutput } from "@toolcrib/core";
import { createSemaphore, LookAlikes, openRegularFile, pathEffect, plainSystemError } from "@toolcrib/kit/files";
import { objectSchema } from "@toolcrib/kit/text";
import { count, type FsSettings, type FsToolOptions, openFileLimit, origin, settingsOf, text } from "../options.ts";
import { readImage } from "./readImage.ts";
import { readBase64, readTextPage } from "./readPages.ts";

const encodings = ["utf8", "utf16le", "latin1", "base64"] as const;

const parameters = {
  type: "object",
  properties: {
    path: { type: "string", description: "File" },
    encoding: { type: "string", enum: encodings, description: "Default utf8" },
    offset: { type: "integer", minimum: 1, description: "First line, from 1" },
    limit: { type: "integer", minimum: 1, description: "Lines" },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

const defaults = { encoding: "utf8", offset: 1 } as const;

/** Characters of text that are given as data too. */
const longestData = 40 * 1024;

/**
 * Makes `read_file`, which answers a file's text exactly, in pages of whole lines where it is longer than `maxBytes`; an image as
 * a picture.
 */
export function createReadFileTool(options: FsToolOptions = {}): ExecutableTool {
  return readFileTool(settingsOf("createReadFileTool", options));
}

/** Makes the tool from settings that the tools of a pack share. */
export function readFileTool({ scope, seen, maxBytes }: FsSettings): ExecutableTool {
  const queue = createSemaphore(openFileLimit);
  const limitWords = maxBytes === Infinity ? "" : `, at most ${Math.floor(maxBytes / 1024) || 1} KB a call`;
  return defineTool({
    name: "read_file",
    origin,
    description: `Read a text file or image${limitWords}.`,
    parameters,
    defaults,
    readOnly: true,
    idempotent: true,
    outputSchema: objectSchema({
      ...{ path: text, "text?": text, "first_line?": count, "next_line?": count, "bytes?": count },
      "image?": objectSchema({ format: text, width: count, height: count }),
    }),
    effects: async ({ path, ...page }) => {
      checkPage(page);
      return [pathEffect("read", (await new LookAlikes(scope).resolve(path, "read")).path, path, scope)];
    },
    execute: ({ path, encoding = defaults.encoding, offset, limit }, { signal }) =>
      queue(async () => {
        checkPage({ encoding, offset, limit });
        const { path: canonical, notice } = await new LookAlikes(scope).resolve(path, "read");
        const file = openRegularFile(canonical, scope);
        const printed = scope.print(canonical);
        try {
          signal?.throwIfAborted();
          // Before its content: what changes it meanwhile is seen later.
          seen?.note(file.descriptor, canonical);
          const asText = encoding === "utf8" && (offset ?? limit) === undefined;
          const shortened = scope.shorten(canonical);
          const image = asText ? await readImage(file, { path: shortened, printed, notice }, signal) : undefined;
          if (image !== undefined) return image;
          const page = await (encoding === "base64"
            ? readBase64(file, maxBytes, signal)
            : readTextPage(file, printed, {
                encoding,
                offset: offset ?? defaults.offset,
                limit: limit ?? Infinity,
                maxBytes,
                signal,
              }));
          // Longer text would hardly fit in data, and take time for nothing.
          const reply = notice === undefined ? page.reply : withNotices(page.reply, notice);
          if (page.text.length > longestData) return reply;
          const first = encoding === "base64" ? {} : { first_line: offset ?? 1 };
          const next = page.next === undefined ? {} : { next_line: page.next };
          return toolOutput(reply, { data: { path: shortened, text: page.text, ...first, ...next } });
        } catch (error) {
          throw plainSystemError(error, printed);
        } finally {
          file.close();
        }
      }),
  });
}

function withNotices(text: string, notice: string): string {
  return `${text}${/\n$/.test(text) || text === "" ? "\n" : /\n\n\[.*\]$/.test(text) ? "\n" : "\n\n"}${notice}`;
}

/** Throws for a page of lines of a file that is read as base64. */
function checkPage({ encoding, offset, limit }: Partial<Record<keyof typeof parameters.properties, unknown>>): void {
  if (encoding !== "base64" || (offset ?? limit) === undefined) return;
  throw invalidArgument(offset === undefined ? "limit" : "offset", "counts lines and base64 has none; leave it out");
}
