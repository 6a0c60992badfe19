import type { ProgramEnd } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { homeFor } from "../../../fixtures/command.ts";

const home = homeFor("config");
const toolcrib = (...args: string[]): Promise<ProgramEnd> => home.toolcrib(["mcp", ...args]);
const write = (text: string): string => home.write("work/.mcp.json", text);

test.each(["null", "3", "[]"])("an entry that is %s is named, and mcp remove takes it out", async (entry) => {
  write(`{ "mcpServers": { "good": { "command": "x" }, "bad": ${entry} } }`);
  expect(await toolcrib("list")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the entry "bad" is not an object'),
  });
  expect(await toolcrib("remove", "bad")).toMatchObject({ code: 0 });
  expect((await toolcrib("list")).stdout).toContain("good");
});

test("an entry without a command is not allowed, and said to have none", async () => {
  write('{ "mcpServers": { "n": { "args": ["x"] } } }');
  const { code, stderr } = await toolcrib("allow", "n");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "toolcrib: n in .mcp.json has neither a command nor a url; correct it, or: toolcrib mcp remove n\n",
  });
  expect((await toolcrib("list")).stdout).not.toContain("undefined");
});

test("mcp list shows no password, key or header value, also as JSON", async () => {
  write(
    JSON.stringify({
      mcpServers: {
        web: { url: "https://me:hunter22@example.com/mcp?key=abc123#frag77", headers: { "X-Key": "plain-value" } },
        db: {
          command: "db",
          args: [
            "postgres://me:hunter22@db/x",
            "--api-key",
            "abc123",
            "--token=abc123",
            "sk-0123456789abcdef0123",
            "-v",
          ],
          env: { TOKEN: "abc123", HOME_OF: "plain-value", FROM: `\${FROM}` },
        },
      },
    }),
  );
  for (const args of [["list"], ["list", "--json"]]) {
    const { stdout } = await toolcrib(...args);
    expect(stdout).not.toMatch(/hunter22|abc123|frag77|plain-value|0123456789/);
    expect(stdout).toContain("https://[redacted]@example.com/mcp?key=[redacted]#[redacted]");
    expect(stdout).toContain("-v");
  }
});

test("mcp list shows what else an entry that is not allowed yet sets, by name, and what cannot be seen as codes", async () => {
  write(
    JSON.stringify({
      mcpServers: { time: { command: "npx", args: ["a\u001b]0;x"], env: { NODE_OPTIONS: "--require=./evil.cjs" } } },
    }),
  );
  const { stdout } = await toolcrib("list");
  expect(stdout).toContain("a<U+001B>]0;x");
  expect(stdout).toContain("\n  with NODE_OPTIONS=");
});
