import { createInterface } from "node:readline/promises";
import type { Ask } from "./approval.ts";

/** Asks on the terminal; undefined where there is nobody. An interrupted question counts as a no. */
export function terminalAsk(interrupt: () => void): Ask {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    lines.on("SIGINT", () => {
      lines.close();
      interrupt();
    });
    try {
      return await Promise.race([lines.question(question), closed]);
    } finally {
      lines.close();
    }
  };
}
