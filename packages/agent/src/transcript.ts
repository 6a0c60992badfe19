export { sessionToHtml } from "./transcript/html.ts";
export { sessionToMarkdown } from "./transcript/markdown.ts";
export { readTranscript } from "./transcript/readTranscript.ts";
export type { Transcript } from "./transcript/transcript.ts";
