import { attempt } from "@toolcrib/core/internal";
import { isObject, withoutControls } from "@toolcrib/core/text";
import {
  aboutCall,
  describeAnswer,
  describeDuration,
  describeTime,
  describeUsage,
  durationOf,
  isDiff,
  piecesOf,
  type TranscriptCall,
  type TranscriptItem,
  type TranscriptTurn,
} from "./transcript.ts";

/** Pictures as addresses that hold them, as long as they fit. */
export interface Pictures {
  /** Returns the address, or in words why there is none. */
  place(block: {
    readonly data: string;
    readonly mimeType: string;
  }): { readonly address: string } | { readonly why: string };
}

/** Types that a browser shows without running anything. */
const shown: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function createPictures(maxBytes: number): Pictures {
  let left = maxBytes;
  return {
    place({ data, mimeType }) {
      const kind = mimeType.toLowerCase();
      if (!shown.has(kind)) return { why: "a picture of a kind that is not shown here" };
      if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return { why: "a picture that is damaged" };
      if (data.length > left)
        return { why: `a picture of ${Math.ceil((data.length * 3) / 4096)} KB, left out for its size` };
      left -= data.length;
      return { address: `data:${kind};base64,${data}` };
    },
  };
}

interface Parts {
  readonly pictures: Pictures;
  readonly cut: (text: string) => string;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for a page, in an element or an attribute; what nobody would see is left out. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

export function turnHtml(turn: TranscriptTurn, number: number, parts: Parts): string {
  const ms = durationOf(turn);
  const about = [
    turn.startedAt && describeTime(turn.startedAt),
    ms !== undefined && describeDuration(ms),
    turn.usage && describeUsage(turn.usage),
  ].filter((fact) => typeof fact === "string");
  const user = turn.user.map((block) =>
    block.type === "text" ? prose(parts.cut(block.text)) : picture(block, parts.pictures),
  );
  return `<article class="turn" id="turn-${number}">
<p class="about"><a href="#turn-${number}">${number}</a>${about.map((fact) => `<span>${escapeHtml(fact)}</span>`).join("")}</p>
${user.length > 0 ? `<section class="user" aria-label="User">${user.join("")}</section>\n` : ""}${turn.items.map((item) => itemHtml(item, parts)).join("\n")}
</article>`;
}

function itemHtml(item: TranscriptItem, parts: Parts): string {
  switch (item.type) {
    case "text":
      return `<section class="answer" aria-label="Answer">${prose(parts.cut(item.text))}</section>`;
    case "reasoning":
      return `<details class="reasoning"><summary>Reasoning</summary>${prose(parts.cut(item.text))}</details>`;
    case "note":
      return `<p class="note">${escapeHtml(item.text)}</p>`;
    case "call":
      return callHtml(item, parts);
  }
}

function callHtml(call: TranscriptCall, parts: Parts): string {
  const ms = durationOf(call);
  const state = call.output === undefined ? "open" : call.isError ? "failed" : "done";
  const about = aboutCall(call).slice(0, 200);
  const result = call.output === undefined ? "" : `<h3>Result</h3>${resultHtml(call.output, parts)}`;
  const pictures = (call.content ?? []).flatMap((block) =>
    block.type === "image" ? [picture(block, parts.pictures)] : [],
  );
  const failed = state === "failed" ? '<span class="state">failed</span>' : "";
  return `<details class="call ${state}"><summary><span class="name">${escapeHtml(call.name)}</span>${
    about === "" ? "" : ` <span class="what">${escapeHtml(about)}</span>`
  }${failed}${ms === undefined ? "" : `<span class="time">${describeDuration(ms)}</span>`}</summary>
<div class="detail">${questionHtml(call)}${argumentsHtml(call.args, parts)}${result}${pictures.join("")}</div></details>`;
}

/** Returns an answer in JSON, such as that of a command, by its fields. */
function resultHtml(output: string, parts: Parts): string {
  const fields: unknown = /^\{[\s\S]*\}$/.test(output) ? parsed(output) : undefined;
  return (isObject(fields) && argumentsHtml(fields, parts)) || code(parts.cut(output));
}

function parsed(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

function questionHtml({ question, answer }: TranscriptCall): string {
  if (question === undefined) return "";
  const words = describeAnswer(answer) ?? "no answer yet";
  return `<p class="question">${escapeHtml(question)} <strong>${escapeHtml(words)}</strong></p>`;
}

function argumentsHtml(args: Readonly<Record<string, unknown>>, parts: Parts): string {
  const rows = Object.entries(args).map(([name, value]) => {
    return `<dt>${escapeHtml(name)}</dt><dd>${valueHtml(value, parts)}</dd>`;
  });
  return rows.length > 0 ? `<dl>${rows.join("")}</dl>` : "";
}

function valueHtml(value: unknown, parts: Parts): string {
  if (typeof value === "string" && !value.includes("\n")) return `<code>${escapeHtml(parts.cut(value))}</code>`;
  if (typeof value === "string") return code(parts.cut(value));
  const edits = Array.isArray(value) ? value.map(editLines) : [];
  if (edits.length > 0 && edits.every((edit) => edit !== undefined))
    return edits.map((edit) => code(parts.cut(edit), true)).join("");
  const json = JSON.stringify(value, null, 2);
  return json.includes("\n") ? code(parts.cut(json)) : `<code>${escapeHtml(json)}</code>`;
}

/** Returns an edit of `edit_file` as the lines of a diff. */
function editLines(edit: unknown): string | undefined {
  const { old_text: old, new_text: now } = isObject(edit) ? edit : {};
  if (typeof old !== "string" || typeof now !== "string") return undefined;
  const lines = (text: string, sign: string): string[] =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  return [...lines(old, "-"), ...lines(now, "+")].join("\n");
}

/** Writes the text of a program or a file; the lines of a diff in their colours. */
function code(text: string, asDiff: boolean = isDiff(text)): string {
  if (text === "") return '<p class="empty">(empty)</p>';
  // A line break right after the tag would not count.
  if (!asDiff) return `<pre tabindex="0">\n${escapeHtml(text)}</pre>`;
  const rows = text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `<span class="${kindOfLine(line)}">${escapeHtml(line) || " "}</span>`);
  return `<pre class="diff" tabindex="0">${rows.join("")}</pre>`;
}

function kindOfLine(line: string): string {
  if (/^(?:\+\+\+ |--- |\*\*\* )/.test(line)) return "file";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
}

/** Formats text: blocks of code as such, the rest as it was written. */
function prose(text: string): string {
  const html = piecesOf(text).map(({ text: words, language }) =>
    language === undefined ? `<p>${inline(words)}</p>` : code(words, /^diff\b/.test(language) || isDiff(words)),
  );
  return html.join("");
}

/** Marks up code within a line and what is bold, and nothing more. */
function inline(words: string): string {
  return words
    .split(/`([^`\n]+)`/)
    .map((part, index) => (index % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : bold(part)))
    .join("");
}

function bold(words: string): string {
  return words
    .split(/\*\*([^*\n]+)\*\*/)
    .map((part, index) => (index % 2 === 1 ? `<strong>${escapeHtml(part)}</strong>` : escapeHtml(part)))
    .join("");
}

function picture(block: { readonly data: string; readonly mimeType: string }, pictures: Pictures): string {
  const placed = pictures.place(block);
  if ("why" in placed) return `<p class="empty">(${escapeHtml(placed.why)})</p>`;
  return `<img src="${escapeHtml(placed.address)}" alt="A picture of the conversation" loading="lazy">`;
}
