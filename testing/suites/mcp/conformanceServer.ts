// The tools that the MCP conformance suite asks a server for, in a registry of ours: `node conformanceServer.ts PORT`.
import { setTimeout as sleep } from "node:timers/promises";
import { type ContentBlock, defineTool, type JsonSchema, ToolRegistry, toolOutput } from "@toolcrib/core";
import { serveMcp } from "@toolcrib/mcp";

const none = { type: "object", properties: {}, additionalProperties: false } as const;
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const image = { type: "image", data: png, mimeType: "image/png" } as const;
/** A registry passes the content blocks of MCP on unchanged, though core has no type for all of them. */
const resource = (uri: string, mimeType: string, text: string): ContentBlock =>
  ({ type: "resource", resource: { uri, mimeType, text } }) as unknown as ContentBlock;

const schema2020: JsonSchema & { type: "object" } = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const registry = new ToolRegistry();

function tool(name: string, description: string, execute: Parameters<typeof defineTool>[0]["execute"]): void {
  registry.register(defineTool({ name, description, parameters: none, execute }));
}

tool("test_simple_text", "Answers a text.", () => "This is a simple text response for testing.");
tool("test_image_content", "Answers an image.", () => toolOutput("", { content: [image] }));
tool("test_audio_content", "Answers a sound.", () =>
  toolOutput("", { content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }),
);
tool("test_embedded_resource", "Answers an embedded resource.", () =>
  toolOutput("", {
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
);
tool("test_multiple_content_types", "Answers several kinds of content.", () =>
  toolOutput("Multiple content types test:", {
    content: [image, resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
  }),
);
tool("test_tool_with_progress", "Reports its progress.", async (_args, { onProgress }) => {
  for (const progress of [0, 50, 100]) {
    onProgress?.({ progress, total: 100 });
    await sleep(50);
  }
  return "done";
});
tool("test_error_handling", "Fails.", () => {
  throw new Error("This tool intentionally returns an error for testing");
});
tool("test_trigger_tool_change", "Changes the list of tools.", () => {
  const name = "test_changing";
  if (registry.isToolEnabled(name)) registry.disable(name);
  else registry.enable(name);
  return "changed";
});
tool("test_changing", "Comes and goes.", () => "here");
registry.register(
  defineTool({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    parameters: schema2020,
    execute: (args) => JSON.stringify(args),
  }),
);

const port = Number(process.argv[2] ?? 0);
const serving = await serveMcp(registry, { name: "conformance", version: "1.0.0", http: { auth: false, port } });
process.stdout.write(`${serving.url}\n`);
