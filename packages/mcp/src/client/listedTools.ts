import { attempt } from "@toolcrib/core/internal";
import { shownName } from "../errors.ts";
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
export interface LeftOut {
  readonly tool?: string;
  readonly problem: string;
  /** True if the server is right, and the tool is one of a kind that is not supported here. */
  readonly isUnsupported?: boolean;
}

/** The tools that a server lists, within limits that keep it from filling memory or a model's context. */
export class ListedTools {
  readonly tools: ListedTool[] = [];
  readonly #leftOut = new Map<string, LeftOut>();
  #bytes = 0;
  #cut: string | undefined;
  readonly #names = new Set<string>();
  readonly #twice = new Set<string>();
  readonly #schemaProblem: (inputSchema: unknown) => string | undefined;

  constructor(schemaProblem: (inputSchema: unknown) => string | undefined = () => undefined) {
    this.#schemaProblem = schemaProblem;
  }

  /** Adds a page. False when no more pages are wanted, also after one that lists only what was listed before. */
  add(page: unknown): boolean {
    const known = this.#names.size;
    const tools: unknown[] = Array.isArray(page) ? page : [];
    for (const tool of tools) {
      if (this.#cut !== undefined) break;
      if (isNamed(tool)) this.#addTool(tool);
    }
    return this.#cut === undefined && (this.#names.size > known || !tools.some(isNamed));
  }

  /** Gives the reason why the list is not read to its end. */
  cut(problem: string): void {
    this.#cut ??= problem;
  }

  /** Lists them. Which of many are named must not depend on the order of the list. */
  get leftOut(): readonly LeftOut[] {
    const named = new Set([...this.#leftOut.keys()].sort().slice(0, maxNamed));
    const unnamed = this.#leftOut.size - named.size;
    const twice = [...this.#twice].sort().slice(0, maxNamed);
    const problems = [
      ...(unnamed > 0 ? [`${unnamed} more tools that cannot be used are left out`] : []),
      ...twice.map((name) => `it lists ${shownName(name)} twice; the first one is used`),
      ...(this.#cut === undefined ? [] : [this.#cut]),
    ];
    return [
      ...[...this.#leftOut].flatMap(([name, one]) => (named.has(name) ? one : [])),
      ...problems.map((problem) => ({ problem })),
    ];
  }

  #addTool(tool: ListedTool): void {
    const { name } = tool;
    if (this.#names.has(name)) {
      this.#twice.add(name);
      return;
    }
    this.#names.add(name);
    const bytes = attempt(() => digestible(tool)) ?? Infinity;
    const problem = this.#problemOf(tool, bytes);
    if (problem !== undefined) this.#leftOut.set(name, { tool: name, problem, isUnsupported: problem === taskProblem });
    else if (this.tools.length === maxTools) {
      this.cut(`it lists more than ${maxTools} tools; the first ${maxTools} are mounted`);
    } else if (this.#bytes + bytes > maxListBytes) {
      this.cut(`its tools take more than ${maxListBytes} bytes; the first ${this.tools.length} are mounted`);
    } else {
      this.#bytes += bytes;
      this.tools.push(tool);
    }
  }

  #problemOf({ execution, inputSchema }: ListedTool, bytes: number): string | undefined {
    if (bytes === Infinity) return "its definition is nested too deeply";
    if (bytes > maxToolBytes) return `its definition has ${bytes} bytes; at most ${maxToolBytes} are taken`;
    return record(execution).taskSupport === "required" ? taskProblem : this.#schemaProblem(inputSchema);
  }
}

const taskProblem = "it runs only as a task, which clients have to ask after; such tools are not supported";

function isNamed(tool: unknown): tool is ListedTool {
  return typeof record(tool).name === "string";
}

/** Returns the size; throws for a tool that can be neither written as JSON nor digested. */
function digestible(tool: ListedTool): number {
  const bytes = bytesOf(tool);
  if (bytes <= maxToolBytes) fingerprint(tool);
  return bytes;
}

function bytesOf({ name, description, inputSchema, annotations }: ListedTool): number {
  return Buffer.byteLength(JSON.stringify([name, description, inputSchema, annotations]));
}

/** The tools of one server, and the bytes of their definitions, from which on a user should know what they cost. */
const manyTools = 128;
const manyBytes = 100 * 1024;

/** Says that so many tools are a burden for every request; undefined if they are few. */
export function burdenOf(tools: readonly ListedTool[]): string | undefined {
  const bytes = tools.reduce((sum, tool) => sum + bytesOf(tool), 0);
  if (tools.length <= manyTools && bytes <= manyBytes) return undefined;
  return (
    `it has ${tools.length} tools with ${Math.ceil(bytes / 1024)} KB of definitions, which every request of a model would hold; name ` +
    "those that you need in includeTools of its entry, or put the server into the option deferred, for createToolSearch to find them"
  );
}
