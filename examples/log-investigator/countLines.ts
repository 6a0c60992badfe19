import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { defineTool, type ExecutableTool } from "@toolcrib/core";
import { createPathScope, openRegularFile, pathEffect } from "@toolcrib/kit/files";

/** Most periods in one reply. */
const mostRows = 200;
const noTime = "(no time)";

/** `count_lines`: when did it begin, and how often is it? A tool of our own, held to the same folder as the others. */
export function createCountLinesTool(root: string): ExecutableTool {
  const scope = createPathScope({ root });
  return defineTool({
    name: "count_lines",
    description: "Count the lines of a log file that contain a text, by minute or hour.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Log file" },
        text: { type: "string", minLength: 1, description: "Literal text" },
        per: { enum: ["minute", "hour"], description: "Default minute" },
      },
      required: ["path", "text"],
      additionalProperties: false,
    },
    readOnly: true,
    effects: async ({ path }) => [pathEffect("read", await scope.resolve(path, "path", "read"), path, scope)],
    async execute({ path, text, per = "minute" }, { signal }) {
      const file = openRegularFile(await scope.resolve(path, "path", "read"), scope);
      try {
        const input = createReadStream(file.path, { fd: file.descriptor, autoClose: false });
        const counts = new Map<string, number>();
        for await (const line of createInterface({ input, signal })) {
          if (!line.includes(text)) continue;
          const time = periodOf(line, per);
          counts.set(time, (counts.get(time) ?? 0) + 1);
        }
        return tableOf(counts);
      } finally {
        file.close();
      }
    },
  });
}

/** `2026-11-22 11:05` of a line with `2026-11-22T11:05:09Z`, or its hour. */
function periodOf(line: string, per: "minute" | "hour"): string {
  const [, day, hour, minute] = /(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)/.exec(line) ?? [];
  if (day === undefined) return noTime;
  return per === "hour" ? `${day} ${hour}:00` : `${day} ${hour}:${minute}`;
}

function tableOf(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return "No line contains the text.";
  const rows = Array.from(counts, ([time, count]) => `${time} ${count}`).sort();
  if (rows.length <= mostRows) return rows.join("\n");
  return `${rows.slice(0, mostRows).join("\n")}\n\n[truncated: shown ${mostRows} of ${rows.length} periods; pass per=hour for fewer]`;
}
