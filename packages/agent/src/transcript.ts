export { sessionToHtml } from "./transcript/html.ts";
export { sessionToMarkdown } from "./transcript/markdown.ts";
export type { TranscriptOptions } from "./transcript/options.ts";
export { readTranscript } from "./transcript/readTranscript.ts";
export type { Transcript } from "./transcript/transcript.ts";
