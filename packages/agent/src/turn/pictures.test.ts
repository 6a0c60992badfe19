import { defineTool, ToolRegistry, toolOutput } from "@toolcrib/core";
import { withoutSharp } from "@toolcrib/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import type { ImageBlock, Message } from "../messages.ts";
import { pictureTypeProblem } from "../providers/models/pictures.ts";
import { ScriptedProvider, type ScriptedReply } from "../testing.ts";

beforeEach(withoutSharp);

class Model extends ScriptedProvider {
  override readonly name: string;
  override readonly model: string = "claude-sonnet-5-5";

  constructor(replies: readonly ScriptedReply[], name = "anthropic") {
    super(replies);
    this.name = name;
  }
}

function png(width: number, height = 1): ImageBlock {
  const bytes = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0", "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return { type: "image", data: bytes.toString("base64"), mimeType: "image/png" };
}

/** `look` answers with pictures of these sizes. */
function tools(): ToolRegistry {
  const execute = ({ sizes }: { sizes: number[] }) => toolOutput("Here.", { content: sizes.map((size) => png(size)) });
  const parameters = {
    type: "object",
    properties: { sizes: { type: "array", items: { type: "integer" } } },
    required: ["sizes"],
  } as const;
  return new ToolRegistry([defineTool({ name: "look", description: "x", readOnly: true, parameters, execute })]);
}

const look = (...sizes: number[]) => ({ name: "look", args: { sizes } });
const widths = (message: Message): number[] =>
  [...(message.content ?? [])].flatMap((block) =>
    block.type === "image" ? [Buffer.from(block.data, "base64").readUInt32BE(16)] : [],
  );
const results = (agent: Agent) =>
  agent.sessionContext.flatMap((message) =>
    message.role === "tool" ? [{ widths: widths(message), output: message.output }] : [],
  );

async function looked(...calls: { name: string; args: object }[]) {
  const agent = new Agent(new Model([{ calls: calls as [] }, "ok"]), { tools: tools() });
  await agent.chat("go");
  return results(agent);
}

describe("a picture in a result", () => {
  test("that is too large for the model is left out, and the output says why", async () => {
    expect(await looked(look(9000, 8000))).toEqual([
      {
        widths: [8000],
        output:
          "Here.\n[picture left out: it is 9000 x 1 pixels, and the model accepts at most 8000 a side; make it smaller, or install the package sharp to have that done here]",
      },
    ]);
  });

  test("that is too large beside 20 others is left out", async () => {
    const [first] = await looked(look(...new Array(20).fill(100), 2001, 2000));
    expect(first?.widths).toEqual([...new Array(20).fill(100), 2000]);
    expect(first?.output).toContain(
      "2001 x 1 pixels, and the model accepts at most 2000 a side beside 20 other pictures",
    );
  });

  test("is left out once there are 20, where one that was sent is too large for more", async () => {
    const large = { calls: [look(3000, ...new Array(19).fill(100))] };
    const agent = new Agent(new Model([large, { calls: [look(100)] }, "ok"]), { tools: tools() });
    await agent.chat("go");
    const [first, second] = results(agent);
    expect(first?.widths).toHaveLength(20);
    expect(second).toEqual({ widths: [], output: expect.stringContaining("an earlier one has more than 2000 pixels") });
  });

  test("counts with those of calls side by side and of the user", async () => {
    const agent = new Agent(new Model([{ calls: Array.from({ length: 12 }, () => look(3000, 2000)) }, "ok"]), {
      tools: tools(),
    });
    await agent.chat([{ type: "text", text: "go" }, png(50), png(50)]);
    const sent = agent.sessionContext.flatMap(widths);
    expect(sent).toHaveLength(20);
    expect(sent.filter((width) => width > 2000)).toHaveLength(9);
  });
});

describe("a picture of the user", () => {
  test("that the model does not take ends the turn before it begins", async () => {
    const provider = new Model(["ok"]);
    const agent = new Agent(provider);
    await expect(agent.chat([{ type: "text", text: "go" }, png(8001)])).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("8001 x 1 pixels, and the model accepts at most 8000 a side"),
    });
    const large = { ...png(1), data: `${png(1).data}${"A".repeat(10_000_000)}` };
    await expect(agent.chat([{ type: "text", text: "go" }, large])).rejects.toMatchObject({ code: "invalid_request" });
    expect(provider.requests).toEqual([]);
    expect(agent.sessionContext).toEqual([]);
    expect(await agent.chat([{ type: "text", text: "go" }, png(8000)])).toBe("ok");
  });

  test("is sent as it is to a model of which no limits are known", async () => {
    expect(await new Agent(new Model(["ok"], "mine")).chat([{ type: "text", text: "go" }, png(9999)])).toBe("ok");
  });
});

test.each<[mimeType: string, model: string, isTaken: boolean]>([
  ["image/png", "gpt-5.5", true],
  ["image/gif", "claude-sonnet-5", true],
  ["image/gif", "google/gemini-3.1-pro", false],
  ["image/svg+xml", "gpt-5.5", false],
  ["image/bmp", "gemini-3.1-pro", false],
])("a picture of the type %s is taken by %s or told in words", (mimeType, model, isTaken) => {
  const problem = pictureTypeProblem({ data: "AAAA", mimeType }, model);
  if (isTaken) expect(problem).toBeUndefined();
  else expect(problem).toContain(`it is ${mimeType}, and the model accepts image/png`);
});
