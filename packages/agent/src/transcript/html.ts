import type { Session } from "../session/session.ts";
import { prepare, type TranscriptOptions } from "./options.ts";
import { factsOf, type Part, partsOf } from "./parts.ts";
import type { Transcript } from "./transcript.ts";

const style = `:root { color-scheme: light dark; color: CanvasText; background: Canvas; }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.words { white-space: pre-wrap; }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid; }
pre { padding: .5rem; border: 1px solid; white-space: pre-wrap; }
`;

/**
 * Returns a session as one plain page without scripts, which asks nothing of the network: what was said, calls and results as text.
 * Nothing in the session becomes markup. Throws a TypeError for invalid options.
 */
export function sessionToHtml(session: Transcript | Session, options: TranscriptOptions = {}): string {
  const prepared = prepare("sessionToHtml", session, options);
  const title = escaped(prepared.title);
  const policy = `default-src 'none'; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<ul>${factsOf(prepared)
    .map((fact) => `<li>${escaped(fact)}</li>`)
    .join("")}</ul>
${partsOf(prepared).map(block).join("\n")}
</body>
</html>
`;
}

function block(part: Part): string {
  switch (part.type) {
    case "heading":
      return `<h2>${escaped(part.text)}</h2>`;
    case "note":
      return `<p><em>${escaped(part.text)}</em></p>`;
    case "words": {
      const element = part.isQuoted ? "blockquote" : "div";
      return `<${element} class="words">${escaped(part.text)}</${element}>`;
    }
    case "code":
      // A line break right after the tag would not count.
      return `<pre>\n${escaped(part.text)}</pre>`;
    case "call": {
      const about = part.about === "" ? "" : ` <code>${escaped(part.about.slice(0, 200))}</code>`;
      return `<details><summary>${escaped(part.title)}${about}</summary>\n${part.parts.map(block).join("\n")}</details>`;
    }
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

function hashOf(content: string): string {
  // Not imported: importing node:crypto takes 8 ms.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
