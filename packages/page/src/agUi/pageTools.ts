import type { Tool } from "@ag-ui/core";
import { defineTool, type ExecutableTool, type JsonSchema, ToolRegistry } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import { PageError } from "../errors.ts";
import type { SessionState, TurnTools } from "../protocol.ts";

/**
 * Adds the tools of a page to those of the agent, for one turn: a call of one waits until the page sends its result. Undefined without any. Throws a PageError for
 * a name that the handler does not allow, or that the agent has.
 */
export function addPageTools(
  tools: readonly Tool[],
  { tools: own }: SessionState,
  allowed: ReadonlySet<string>,
): TurnTools | undefined {
  if (tools.length === 0) return undefined;
  for (const { name } of tools) {
    if (!allowed.has(name))
      throw new PageError(
        400,
        `The page may not bring the tool ${JSON.stringify(name)}: the server does not name it in pageTools.`,
      );
    if (!own || own.get(name))
      throw new PageError(
        400,
        `The page cannot bring the tool ${JSON.stringify(name)}: ${own ? "the agent has one of that name" : "a durable run has its own tools"}.`,
      );
  }
  try {
    const all = tools.map(toExecutable);
    new ToolRegistry().register(...all);
    return (registry) => {
      const turn = registry.clone();
      turn.register(...all);
      return turn;
    };
  } catch (error) {
    throw new PageError(400, `The page's tools cannot be used: ${messageOf(error)}`);
  }
}

function toExecutable({ name, description, parameters }: Tool): ExecutableTool {
  const tool = defineTool({
    name,
    description,
    parameters: (parameters ?? { type: "object" }) as JsonSchema,
    origin: "page",
    effects: () => [],
    execute() {
      throw new Error("it runs in the page");
    },
  });
  // Marked as a stranger's, so the expressions of its schema are not run: the page judges the forms of texts.
  return { ...tool, hints: {}, ask: () => ({ text: `The page runs ${name}.` }) };
}
