import { readFileSync } from "node:fs";

/** Options of every worker: none of the program's flags (its `--input-type` would be refused for a file), variables or input. */
export const workerOptions: {
  readonly execArgv: string[];
  readonly env: Record<string, string>;
  readonly stdin: false;
} = {
  execArgv: [],
  env: {},
  stdin: false,
};

/**
 * Returns the module at `file` as a `data:` URL. For yarn's Plug'n'Play: its loader, which reads files out of archives, is not in the
 * thread. The module may import nothing but Node's own.
 */
export function moduleAsData(file: URL): URL {
  return new URL(`data:text/javascript;base64,${readFileSync(file).toString("base64")}`);
}
