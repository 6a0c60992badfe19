import { definitionProblems } from "@toolcrib/testing";
import { randomOf } from "@toolcrib/testing/randomOf";
import { createRandomSchemas } from "@toolcrib/testing/randomSchemas";
import { expect, test } from "vitest";
import { mendSchema } from "../arguments/mend.ts";
import { schemaProblem } from "../arguments/schema.ts";
import type { ChatTool } from "../interface.ts";
import { definitionFor } from "./definition.ts";
import type { Wire } from "./rules.ts";

type Json = Record<string, unknown>;

const shapes: Readonly<Record<Wire, (tool: ReturnType<typeof definitionFor>) => Json>> = {
  responses: (tool) => ({ type: "function", ...tool }),
  chat: (tool) => ({ type: "function", function: tool }),
  messages: ({ parameters, ...tool }) => ({ ...tool, input_schema: parameters }),
  gemini: ({ parameters, ...tool }) => ({
    ...tool,
    ...(parameters.properties !== undefined && { parametersJsonSchema: parameters }),
  }),
  any: (tool) => ({ ...tool }),
};

test.each([1, 2, 3])("whatever goes out is never refused (seed %i)", (seed) => {
  const random = randomOf(seed);
  const make = createRandomSchemas(random);
  for (let run = 0; run < 33; run += 1) {
    const given = { ...Object(make(3)), $defs: { n: make(2), m: make(1) }, definitions: { m: make(2) } };
    const parameters = mendSchema({ ...given, type: "object" });
    expect(schemaProblem(parameters) ?? "", JSON.stringify(given)).toMatch(/^$|lead back/);
    const strict = random() < 0.3;
    const tool: ChatTool = { type: "function", function: { name: "t", description: "d", parameters, strict } };
    for (const wire of Object.keys(shapes) as Wire[]) {
      const definition = shapes[wire](definitionFor(tool, wire));
      const problems = [wire, ...(wire === "chat" ? (["llama.cpp"] as const) : [])].flatMap((one) =>
        definitionProblems(one, definition),
      );
      expect(problems, `${wire}: ${JSON.stringify(given)}\nbecame ${JSON.stringify(definition)}`).toEqual([]);
    }
  }
});
