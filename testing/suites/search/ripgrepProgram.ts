import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The ripgrep that npm brings for the benchmarks; where it brings none for this system, the one on PATH. */
export function ripgrepProgram(): string {
  const { resolve } = createRequire(new URL("../../../bench/package.json", import.meta.url));
  try {
    return join(dirname(resolve("@vscode/ripgrep-linux-x64/package.json")), "bin", "rg");
  } catch {
    return "rg";
  }
}
