import { fileURLToPath } from "node:url";
import { record } from "./mapping.ts";

/** The directories in a client's answer to `roots/list`: its `file:` roots, each once. Anything else is left out. */
export function rootsFrom(answer: unknown): string[] {
  const { roots } = record(answer);
  if (!Array.isArray(roots)) return [];
  const paths = roots.flatMap((root: unknown) => {
    const { uri } = record(root);
    try {
      return typeof uri === "string" && uri.startsWith("file:") ? [fileURLToPath(uri)] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(paths)];
}
