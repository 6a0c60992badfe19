import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sessionToHtml } from "../../../packages/agent/dist/transcript.js";
import { findUnreadable } from "./unreadable.mjs";

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";
const hostile = [
  "</script><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>",
  "</style></title></textarea></pre></details><svg onload=\"document.title='run'\">",
  `" onmouseover="document.title='run'" x='`,
];
const diff = `--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n same\n-const old = "${"long ".repeat(80)}";\n+const now = 1;\n`;

function turn(number) {
  const startedAt = new Date(Date.UTC(2026, 0, 1, 12, number)).toISOString();
  const endedAt = new Date(Date.UTC(2026, 0, 1, 12, number, 4)).toISOString();
  const call = (name, args, output, more = {}) => ({
    type: "call",
    id: name,
    name,
    args,
    output,
    startedAt,
    endedAt,
    ...more,
  });
  return {
    startedAt,
    endedAt,
    usage: {
      inputTokens: 12_500,
      outputTokens: 830,
      cacheReadTokens: 9000,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      cost: 0.0123,
    },
    user: [{ type: "text", text: number % 5 === 1 ? hostile.join("\n") : `Turn ${number}: raise the limit once more` }],
    items: [
      { type: "reasoning", text: "It is in the registry." },
      call("read_file", { path: "shot.png" }, "a picture", {
        content: [{ type: "image", data: dot, mimeType: "image/png" }],
      }),
      call("edit_file", { path: `src/file${number}.ts`, edits: [{ old_text: "a\nb", new_text: "c" }] }, diff),
      call("run_bash", { command: hostile[0] }, `Error executing run_bash: ${hostile[1]}`, {
        isError: true,
        question: hostile[2],
        answer: true,
      }),
      {
        type: "text",
        text: `Done: \`limit\` is **${number}**. ${"averyverylongword".repeat(20)}\n\n\`\`\`ts\nexport const limit = ${number};\n\`\`\``,
      },
    ],
  };
}

/** A big conversation as a page, in a browser: nothing of it runs or asks the network, and it can be read. */
export async function checkTranscript(browser, pictures) {
  const folder = mkdtempSync(join(tmpdir(), "transcript-"));
  const tab = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const problems = [];
  try {
    const session = {
      systemPrompt: "",
      models: ["openai/one"],
      name: `A talk ${hostile[0]}`,
      turns: Array.from({ length: 50 }, (_, index) => turn(index + 1)),
    };
    const file = join(folder, "page.html");
    writeFileSync(file, sessionToHtml(session));
    const url = pathToFileURL(file).href;
    tab.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
    tab.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    tab.on("request", (request) => request.url() !== url && problems.push(`asks for ${request.url()}`));
    await tab.goto(url);
    await tab.evaluate(() => {
      for (const call of document.querySelectorAll("details")) call.open = true;
    });
    for (const width of [360, 1400]) {
      await tab.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"]) {
        await tab.emulateMedia({ colorScheme });
        const found = await tab.evaluate(findUnreadable, colorScheme);
        problems.push(...found.map((problem) => `at ${width} pixels, ${colorScheme}: ${problem}`));
        if (pictures !== undefined)
          await tab.screenshot({ path: join(pictures, `transcript_${width}_${colorScheme}.png`) });
      }
    }
    if (!(await tab.title()).startsWith("A talk </script>")) problems.push("something of the conversation ran");
  } catch (error) {
    problems.push(error.message);
  } finally {
    await tab.close();
    rmSync(folder, { recursive: true });
  }
  return problems;
}
