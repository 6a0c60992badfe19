/** One piece of rich output, in the shapes of MCP: base64 `data` with its MIME type. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string };

/** A report of a running tool: `progress` out of `total` (any unit), and a line for people. */
export interface ToolProgress {
  progress?: number;
  total?: number;
  message?: string;
}
