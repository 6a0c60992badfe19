// A registry to be served.
import { defineTool, ToolRegistry } from "@toolcrib/core";

const none = { type: "object", properties: {}, additionalProperties: false };

export function dice() {
  return new ToolRegistry([
    defineTool({
      name: "roll",
      description: "Rolls dice.",
      parameters: {
        type: "object",
        properties: { count: { type: "integer", minimum: 1 } },
        required: ["count"],
        additionalProperties: false,
      },
      readOnly: true,
      execute: ({ count }) => "4".repeat(Math.min(count, 100)),
    }),
    defineTool({
      name: "fail",
      description: "Fails.",
      parameters: none,
      execute: () => {
        throw new Error("it broke");
      },
    }),
    defineTool({
      name: "wait",
      description: "Waits until it is aborted.",
      parameters: none,
      execute: (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
    }),
  ]);
}
