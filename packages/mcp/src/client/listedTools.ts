import { type ListedTool, record } from "../mapping.ts";
import { fingerprint } from "./fingerprint.ts";

/** The most tools of one server that are mounted. */
const maxTools = 1000;
/** The most bytes that one tool's description, schema and hints may take as JSON. */
const maxToolBytes: number = 64 * 1024;
/** The same for all tools of a server. */
const maxListBytes = 4 * 1024 * 1024;
/** The most tools left out that are named one by one. */
const maxNamed = 20;

/** A tool that is left out. Without a name: why the list is incomplete. */
interface LeftOut {
  tool?: string;
  problem: string;
}

/** The tools that a server lists, within limits that keep it from filling memory or a model's context. */
export class ListedTools {
  readonly tools: ListedTool[] = [];
  #leftOut: LeftOut[] = [];
  #bytes = 0;
  #unnamed = 0;
  #cut: string | undefined;

  /** Adds a page. False when no more pages are wanted. */
  add(page: unknown): boolean {
    for (const tool of Array.isArray(page) ? page : []) {
      if (this.#cut !== undefined) break;
      if (isNamed(tool)) this.#addTool(tool);
    }
    return this.#cut === undefined;
  }

  /** Gives the reason why the list is not read to its end. */
  cut(problem: string): void {
    this.#cut ??= problem;
  }

  get leftOut(): readonly LeftOut[] {
    const more =
      this.#unnamed === 0 ? [] : [{ problem: `${this.#unnamed} more tools that cannot be used are left out` }];
    return [...this.#leftOut, ...more, ...(this.#cut === undefined ? [] : [{ problem: this.#cut }])];
  }

  #addTool(tool: ListedTool): void {
    const bytes = sizeOf(tool);
    if (bytes === undefined || bytes > maxToolBytes) {
      const why =
        bytes === undefined
          ? "its definition is nested too deeply"
          : `its definition has ${bytes} bytes; at most ${maxToolBytes} are taken`;
      if (this.#leftOut.length < maxNamed) this.#leftOut.push({ tool: tool.name, problem: why });
      else this.#unnamed += 1;
    } else if (this.tools.length === maxTools) {
      this.cut(`it lists more than ${maxTools} tools; the first ${maxTools} are mounted`);
    } else if (this.#bytes + bytes > maxListBytes) {
      this.cut(`its tools take more than ${maxListBytes} bytes; the first ${this.tools.length} are mounted`);
    } else {
      this.#bytes += bytes;
      this.tools.push(tool);
    }
  }
}

function isNamed(tool: unknown): tool is ListedTool {
  return typeof record(tool).name === "string";
}

/** Returns the size; undefined for a definition nested too deeply to be written as JSON or digested. */
function sizeOf(tool: ListedTool): number | undefined {
  try {
    const { name, description, inputSchema, annotations } = tool;
    const bytes = Buffer.byteLength(JSON.stringify([name, description, inputSchema, annotations]));
    if (bytes <= maxToolBytes) fingerprint(tool);
    return bytes;
  } catch {
    return undefined;
  }
}
