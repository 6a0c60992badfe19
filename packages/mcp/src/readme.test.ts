import { readFileSync } from "node:fs";
import { testReadme } from "@toolcrib/testing";
import { expect, test } from "vitest";

const readmeUrl = new URL("../README.md", import.meta.url);
const readme = readFileSync(readmeUrl, "utf8");

testReadme(readmeUrl, {
  "structured.ts": /^\{ ok: true, output: '3 files', data: \{ files: 3 \} \}\n$/,
});

test("each program has a block that starts toolcrib mcp serve", () => {
  for (const program of ["Claude Desktop", "Claude Code", "Cursor", "VS Code", "Zed"]) {
    const [, language, block = ""] =
      new RegExp(`\\*\\*${program}\\*\\*[^]*?\`\`\`(\\w+)\n([^]*?)\`\`\``).exec(readme) ?? [];
    const words =
      language === "json"
        ? (Object.values(Object.values(JSON.parse(block) as object)[0])[0] as { command: string; args: string[] })
        : undefined;
    const line = words ? [words.command, ...words.args].join(" ") : block;
    expect(line, program).toContain("npx -y @toolcrib/cli mcp serve");
  }
});
