import type { Session } from "../session/session.ts";
import { createPictures, escapeHtml as text, turnHtml } from "./htmlParts.ts";
import { type Prepared, prepare, type TranscriptOptions } from "./options.ts";
import { script } from "./pageScript.ts";
import { style } from "./pageStyle.ts";
import { describeDuration, describeTime, describeUsage, durationOf, type Transcript } from "./transcript.ts";

/**
 * Returns a session as one page that asks nothing of the network: turns with calls, results, diffs and pictures, a search, light and dark.
 * Nothing in the session becomes markup or script. Throws a TypeError for invalid options.
 */
export function sessionToHtml(session: Transcript | Session, options: TranscriptOptions = {}): string {
  const prepared = prepare("sessionToHtml", session, options);
  const { transcript, title } = prepared;
  const pictures = createPictures(prepared.maxPictureBytes);
  const turns = transcript.turns.map((turn, index) => turnHtml(turn, index + 1, { pictures, cut: prepared.cut }));
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${text(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${text(title)}</h1>
<ul class="facts">${facts(transcript)
    .map((fact) => `<li>${text(fact)}</li>`)
    .join("")}</ul>
</header>
<div class="tools" hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search in this conversation" autocomplete="off" spellcheck="false">
<span id="count" role="status"></span>
<button type="button" id="all" aria-pressed="false">Open all</button>
</div>
<div class="page">
${contents(prepared)}
<main>
${turns.join("\n") || "<p>Nothing was said.</p>"}
</main>
</div>
<script>${script}</script>
</body>
</html>
`;
}

function facts({ startedAt, models, turns, usage }: Transcript): string[] {
  const calls = turns.flatMap(({ items }) => items.filter(({ type }) => type === "call")).length;
  const times = turns.flatMap((turn) => durationOf(turn) ?? []);
  const count = (value: number, one: string): string => `${value} ${one}${value === 1 ? "" : "s"}`;
  return [
    ...(startedAt ? [describeTime(startedAt)] : []),
    ...models,
    count(turns.length, "turn"),
    count(calls, "call"),
    ...(times.length > 0 ? [describeDuration(times.reduce((sum, ms) => sum + ms, 0))] : []),
    ...(usage ? [describeUsage(usage)] : []),
  ];
}

/** Returns a list of the turns, which a wide screen shows beside them. */
function contents({ transcript }: Prepared): string {
  const rows = transcript.turns.map(({ user }, index) => {
    const first = user.find((block) => block.type === "text");
    const line = first?.type === "text" ? first.text.trim().split("\n", 1)[0]?.slice(0, 80) : "";
    return `<li><a href="#turn-${index + 1}">${text(line || "(no text)")}</a></li>`;
  });
  return `<nav aria-label="Turns"><details open><summary>Turns</summary><ol>${rows.join("")}</ol></details></nav>`;
}

function hashOf(content: string): string {
  // Not imported: importing node:crypto takes 8 ms.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
