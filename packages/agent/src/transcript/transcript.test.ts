import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolOutput } from "@toolcrib/core";
import { sharedFolder, temporaryFolder } from "@toolcrib/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { registryOf, sessionOf, userText } from "../../testing/turns.ts";
import { Agent } from "../agent.ts";
import { noUsage } from "../conversation/usage.ts";
import { AgentError } from "../errors.ts";
import type { Session } from "../session/session.ts";
import { ScriptedProvider, type ScriptedReply } from "../testing.ts";
import { readTranscript, sessionToHtml, sessionToMarkdown, type Transcript } from "../transcript.ts";

/** A red dot. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";
const key = `sk-ant-${"a1B2".repeat(10)}`;
const diff = "--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n same\n-old <b>\n+new <i>\n";

/** Texts that must stay text everywhere. */
const hostile = [
  "</script><img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "</style></title></textarea></pre><svg onload=alert(1)>",
  '" onmouseover="alert(1)" x="\' onfocus=\'alert(1)',
  "<!-- <![CDATA[ &lt;img&gt; ]]>",
  "javascript:alert(1)",
  "\u202Eevil\u202C\u0000\u001b[31m",
  "$& $1 $`",
];

const journal = join(sharedFolder("transcript"), "one.jsonl");
let transcript: Transcript;

beforeAll(async () => {
  const environment = `PATH=/usr/bin\nGITHUB_TOKEN=abc\n${key}\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend`;
  const tools = registryOf({
    show: () => toolOutput("a picture", { content: [{ type: "image", data: png, mimeType: "image/png" }] }),
    edit: () => diff,
    fail: () => {
      throw new Error(hostile[0]);
    },
    env: () => environment,
    ask: () => hostile.join("\n"),
  }).guard(({ name }) => (name === "ask" ? { ask: { text: `Ask ${hostile[0]}?` } } : true));
  const usage = { ...noUsage, inputTokens: 1200, outputTokens: 80, cacheReadTokens: 300, cost: 0.01 };
  const edits = [{ old_text: "a", new_text: "b" }];
  const secretArgs = { password: "hunter2", note: "s3cret-value-of-mine" };
  const replies: ScriptedReply[] = [
    { text: "Look:", calls: [{ name: "show" }, { name: "edit", args: { path: hostile[3], edits } }] },
    { text: `Done. \`x < y\`\n\n\`\`\`js\n${hostile[1]}\n\`\`\``, usage },
    {
      calls: [
        { name: "fail", args: { [hostile[0] as string]: hostile } },
        { name: "env", args: secretArgs },
      ],
    },
    { text: hostile.join("\n"), usage },
    { calls: [{ name: "ask", args: {} }] },
    { text: "Asked." },
  ];
  const agent = new Agent(new ScriptedProvider(replies), { journal, tools, sessionName: `Name ${hostile[0]}` });
  await agent.chat("Show me");
  await agent.chat([
    { type: "text", text: hostile.join("\n") },
    { type: "image", data: png, mimeType: "image/png" },
  ]);
  await agent.chat("Ask").catch(() => undefined);
  await agent.approve(Object.fromEntries(agent.pending.map(({ callId }) => [callId, true])));
  transcript = await readTranscript(journal);
});

/** The elements of a page with their attributes, and all of its text, by rules stricter than a browser's. */
function parse(html: string): { readonly tags: readonly string[]; readonly text: string } {
  const tags: string[] = [];
  const open: string[] = [];
  let text = "";
  let rest = html.replace(/^<!doctype html>/, "");
  const raw = /^(?:style|script)$/;
  while (rest !== "") {
    const last = open.at(-1) ?? "";
    if (raw.test(last)) {
      const end = rest.indexOf(`</${last}`);
      expect(rest.slice(0, end)).not.toMatch(/<\/|<!--/);
      rest = rest.slice(end);
    }
    const [tag, close, name = "", attributes = ""] =
      /^<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/.exec(rest) ?? [];
    if (tag !== undefined) {
      if (close === "") tags.push(`${name}${attributes}`);
      if (close === "/") expect(open.pop()).toBe(name);
      else if (!/^(?:meta|img|input)$/.test(name)) open.push(name);
      rest = rest.slice(tag.length);
      continue;
    }
    const [words = ""] = /^[^<]+/.exec(rest) ?? [];
    expect(words, `not a tag: ${rest.slice(0, 60)}`).not.toBe("");
    text += words;
    rest = rest.slice(words.length);
  }
  expect(open).toEqual([]);
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return { tags, text: text.replace(/&([^;]*);/g, (_, name: string) => entities[name] ?? expect.fail(`&${name};`)) };
}

describe("a transcript", () => {
  test("has each turn with its calls, results, times, tokens and answers", () => {
    expect(transcript.turns).toHaveLength(3);
    expect(transcript.startedAt).toMatch(/^\d{4}-/);
    const [first, , third] = transcript.turns;
    expect(first?.usage).toMatchObject({ inputTokens: 1200, cost: 0.01 });
    expect(transcript.usage).toMatchObject({ inputTokens: 2400, cost: 0.02 });
    const kinds = first?.items.map((item) => (item.type === "call" ? item.name : item.type));
    expect(kinds).toEqual(["text", "show", "edit", "text"]);
    const asked = { name: "ask", answer: true, question: `Ask ${hostile[0]}?`, isError: false };
    expect(third?.items[0]).toMatchObject(asked);
    for (const turn of transcript.turns) {
      for (const time of [turn.startedAt, turn.endedAt]) expect(Date.parse(time ?? "")).toBeGreaterThan(0);
      for (const item of turn.items) {
        if (item.type !== "call") continue;
        expect(Date.parse(item.endedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(item.startedAt ?? ""));
      }
    }
  });

  test("keeps what was cleared or shortened, and says so; an older journal has no times", async () => {
    const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
    const messages = [userText("A summary.")];
    const more = [
      { type: "messages", messages },
      { type: "messages", messages: [] },
      { type: "message", message: messages[0] },
    ];
    const older = [...lines, ...more.map((line) => JSON.stringify(line))].map((line) =>
      line.replace(/,"at":"[^"]*"\}$/, "}"),
    );
    const file = join(temporaryFolder("older"), "older.jsonl");
    writeFileSync(file, `${older.join("\n")}\n{"type":"mess`);
    const { turns } = await readTranscript(file);
    expect(turns).toHaveLength(4);
    expect(turns[2]?.items.slice(-2)).toEqual([
      { type: "note", text: expect.stringMatching(/^The conversation was shortened from \d+ messages to 1\.$/) },
      { type: "note", text: "The conversation was cleared." },
    ]);
    expect(turns[0]?.startedAt).toBeUndefined();
    expect(sessionToHtml(await readTranscript(file))).toContain("The conversation was cleared.");
  });

  test("says of a refused message that it was, also of the first, and of a shorter conversation that it is shorter", async () => {
    const refused = (): AgentError => new AgentError({ code: "invalid_request", message: "no" });
    const file = join(temporaryFolder("refused"), "one.jsonl");
    const agent = new Agent(new ScriptedProvider([refused(), "Hello.", refused()]), { journal: file });
    await expect(agent.chat("first")).rejects.toThrow("no");
    await agent.chat("hi");
    await expect(agent.chat("last")).rejects.toThrow("no");
    const note = { type: "note", text: "The service refused the message, so it was removed from the conversation." };
    const { turns } = await readTranscript(file);
    expect(turns.map(({ items }) => items)).toEqual([[note], [{ type: "text", text: "Hello." }], [note]]);
    appendFileSync(file, `${JSON.stringify({ type: "messages", messages: agent.sessionContext.slice(0, 1) })}\n`);
    const shorter = { type: "note", text: "The conversation was shortened from 2 messages to 1." };
    expect((await readTranscript(file)).turns.at(-1)?.items).toEqual([note, shorter]);
  });

  test("of a saved session, or one at hand, has its messages and its usage", async () => {
    const { cost: _, ...tokens } = { ...noUsage, inputTokens: 5, outputTokens: 1 };
    const session: Session = {
      ...{ format: "toolcrib-session", version: 1, savedAt: "2026-01-01T00:00:00Z", systemPrompt: "" },
      ...{ messages: [userText("Hello")], usage: tokens },
    };
    const read = { turns: [{ user: [{ text: "Hello" }] }], usage: { inputTokens: 5 } };
    expect(await readTranscript(session)).toMatchObject(read);
    expect(sessionToHtml(session)).toContain("5 tokens in, 1 out, cost unknown");
    await expect(readTranscript(join(temporaryFolder("none"), "none"))).rejects.toMatchObject({ code: "bad_session" });
  });
});

describe("a page", () => {
  test("is whole, asks nothing of the network, and runs nothing", () => {
    const html = sessionToHtml(transcript);
    const { tags } = parse(html);
    expect(tags.filter((tag) => /^(?:script|img|a|link|iframe|object|base|form|svg)\b/.test(tag))).toEqual([]);
    for (const tag of tags) expect(tag).not.toMatch(/ (?:on[a-z]+|style|src|srcset|href|action)=/);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/);
  });

  test("keeps hostile text as text, without what nobody sees", () => {
    const { text } = parse(sessionToHtml(transcript));
    for (const words of hostile.slice(0, 6)) expect(text.split(words).length).toBeGreaterThan(2);
    expect(text).toContain("evil[31m");
    expect(text).toContain("$& $1 $`");
    expect(text).not.toMatch(/[\u0000\u001b\u202e]/);
  });

  test("has calls with results, answers, pictures by name, durations, tokens and cost", () => {
    const { text } = parse(sessionToHtml(transcript));
    expect(text).toMatch(/edit \(\d+ ms\) /);
    expect(text).toMatch(/fail, failed \(\d+ ms\)/);
    for (const words of [
      diff.trimEnd(),
      "1,200 tokens in (300 from the cache), 80 out, $0.0100",
      "The user was asked; allowed:",
      "(image, image/png)",
      "(a picture, image/png)",
    ])
      expect(text).toContain(words);
  });

  test("has texts up to their limit, and takes no unknown options", () => {
    expect(sessionToHtml(transcript, { maxTextBytes: 40 })).toContain("[truncated: shown");
    expect(() => sessionToHtml(transcript, { theme: "dark" } as object)).toThrow("theme");
  });
});

describe("secrets", () => {
  test.each([
    ["a page", sessionToHtml],
    ["Markdown", sessionToMarkdown],
  ])("are not in %s: given ones in every form, and what looks like one", (_, write) => {
    const before = JSON.stringify(transcript);
    const text = write(transcript, { secrets: ["s3cret-value-of-mine"] });
    for (const secret of [key, "hunter2", "s3cret-value", "MIIE", "=abc"]) {
      expect(before).toContain(secret);
      expect(text).not.toContain(secret);
    }
    expect(text).toContain("PATH=/usr/bin");
    expect(text).toContain("[redacted]");
  });
});

describe("secrets with what nobody sees between their characters", () => {
  const said = (text: string): Session =>
    sessionOf([userText(text), { role: "assistant", content: [call({ note: text, [text]: 1 })] }, result(text)]);
  const call = (args: object) => ({ type: "tool-call", id: "a", name: "look", args }) as never;
  const result = (output: string) => ({ role: "tool", callId: "a", name: "look", output, isError: false }) as const;

  test.each(["\u0000", "\u001b", "\u0085", "\r", "\u202e", "\u200b", "\u00ad", "\ufeff", "\u{e0041}", "\ud800"])(
    "are not in a page or in Markdown: %j",
    (hidden) => {
      const split = (secret: string): string => secret.replace(/(?<=^.{5})/, hidden);
      const text = `${split("s3cret-value-of-mine")} ${split(key)}\nGITHUB_${hidden}TOKEN=a${hidden}bc`;
      for (const write of [sessionToHtml, sessionToMarkdown]) {
        const written = write(said(text), { secrets: ["s3cret-value-of-mine"], title: text });
        const plain = written.replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, "");
        for (const secret of ["value-of-mine", key, "=abc"]) expect(plain).not.toContain(secret);
        expect(written).toContain("[redacted]");
      }
    },
  );

  test("are found by a secret that holds such a character itself, and other text keeps what takes no room", () => {
    const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
    const text = sessionToMarkdown(said(`pass\u0007word\u200bof mine, ${key.slice(0, 3)}`), {
      secrets: ["pass\u0007word\u200bof"],
    });
    expect(text).not.toContain("word");
    expect(sessionToMarkdown(said(family))).toContain(family);
  });
});

/** Returns the lines outside of blocks of code, whose fences must all be closed. */
function outsideOfCode(markdown: string): string[] {
  let fence = "";
  const lines = markdown.split(/\r\n|[\r\n]/).filter((line) => {
    const [, ticks = ""] = /^(?:> )?\s*(`{3,}|~{3,})/.exec(line) ?? [];
    const isInside = fence !== "";
    if (!isInside) fence = ticks;
    else if (ticks[0] === fence[0] && ticks.length >= fence.length) fence = "";
    return !isInside && ticks === "";
  });
  expect(fence).toBe("");
  return lines;
}

describe("Markdown", () => {
  test("begins no HTML outside of code, and no text ends a block of code", () => {
    const markdown = sessionToMarkdown(transcript);
    for (const line of outsideOfCode(markdown)) expect(line).not.toMatch(/<[A-Za-z/!?]/);
    expect(markdown).toContain("```diff\n--- a.ts");
    expect(markdown).toContain("## Turn 3");
  });

  const img = "<img src=x onerror=alert(1)>";
  test.each([
    ["behind a backslash", `\\${img}`],
    ["behind three", `\\\\\\${img}`],
    ["with a control character before its name", "<\u0000img src=x onerror=alert(1)>"],
    ["with a mark of direction there", "<\u202e/script><\u202e!-- x"],
    ["with half of a character there", "<\ud800img src=x onerror=alert(1)>"],
    ["at the end of a fence that a control character hides", `\`\`\`\n\`\`\u0000\`\n${img}\n\`\`\``],
    ["behind a fence of tildes in a quotation", `> ~\u0000~~\n> ${img}\n> ~~~\n${img}`],
    ["behind a carriage return in a fence", `\`\`\`\na\r\`\`\`\r${img}\n\`\`\``],
    ["in the words behind a fence", `\`\`\`js ${img}\nx\n\`\`\``],
    ["behind a fence in a list", `- \`\`\`\n${img}\n\`\`\`\n${img}`],
  ])("begins none %s, wherever it is said", (_, text) => {
    const args = { [text]: text };
    const content = [
      { type: "reasoning", text },
      { type: "text", text },
      { type: "tool-call", id: "a", name: "look", args },
    ] as const;
    const result = { role: "tool", callId: "a", name: "look", output: text, isError: false } as const;
    const messages = [userText(text), { role: "assistant", content, model: text }, result] as never;
    const markdown = sessionToMarkdown(sessionOf(messages, { name: text }));
    const lines = [
      ...outsideOfCode(markdown),
      ...outsideOfCode(sessionToMarkdown(sessionOf(messages), { title: text })),
    ];
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line).not.toMatch(/<[A-Za-z/!?]/);
    expect(markdown).not.toMatch(/[\u0000\r\u202e\ud800]/u);
  });
});
