import type { ChatTool, ContentBlock, JsonSchema, ToolEffect, ToolProgress, ToolTraits } from "@toolcrib/core";

/** Both sides must speak the same one. */
export const protocolVersion: number = 1;

/** The most bytes of one frame. A picture of `read_file` is far below. */
export const maxFrameBytes: number = 32 * 2 ** 20;

/** Milliseconds after which a side that has heard nothing takes the connection for broken. */
export const silenceMs = 120_000;

/** Milliseconds between signs of life. */
export const pingMs = 20_000;

/** Options of the packs, as JSON: what cannot be sent (functions, a runner) cannot be given. */
export interface RemoteOptions {
  /**
   * The directory there that relative paths start from; `~/` is the home there, as in `root`. Default: the first root, else the directory
   * in which it was started.
   */
  readonly cwd?: string | undefined;
  /** One directory or several, there, that the file and search tools may not leave. Default: no limit. */
  readonly root?: string | readonly string[] | undefined;
  /** Patterns of paths that no tool comes by. Default: none. */
  readonly deny?: readonly string[] | undefined;
  /** One directory or several, there, that may be read and nothing more. Default: none. */
  readonly readable?: string | readonly string[] | undefined;
  /** Options of `createFsTools`, `createSearchTools` and `createBashTools`. */
  readonly fs?: Readonly<Record<string, unknown>> | undefined;
  readonly search?: Readonly<Record<string, unknown>> | undefined;
  readonly bash?: Readonly<Record<string, unknown>> | undefined;
}

/** A tool as the remote lists it. */
export interface ListedTool extends ToolTraits {
  readonly schema: ChatTool;
  readonly origin: string;
  /** Milliseconds; `own` where the tool decides by its arguments, and ends itself. */
  readonly timeoutMs: number | "own";
  readonly hasEffects: boolean;
  readonly outputSchema?: JsonSchema | undefined;
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
}

/** A change that a call would make to the text of one file. */
export interface RemoteChange {
  /** Canonical and absolute, there. */
  readonly path: string;
  /** Undefined for a file that is not there yet. */
  readonly before: string | undefined;
  /** Undefined for a file that would be removed. */
  readonly after: string | undefined;
}

/** A failure as JSON: that of a ToolError, or any other with its message alone. */
export interface SentError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly details?: unknown;
  readonly recoverable?: boolean | undefined;
}

/** A request to the remote, a line of JSON each. `id` is chosen here. No `type` is one of a reply's: a terminal in between may echo. */
export type Request =
  | { readonly type: "start"; readonly protocol: number; readonly options: RemoteOptions }
  | {
      readonly type: "call" | "effects-of" | "changes-of";
      readonly id: number;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly callId?: string | undefined;
    }
  | { readonly type: "abort"; readonly id: number }
  | { readonly type: "ping" };

/** A reply of the remote. */
export type Reply =
  | {
      readonly type: "ready";
      readonly protocol: number;
      readonly node: string;
      readonly cwd: string;
      /** Canonical; null where nothing confines. */
      readonly roots: readonly string[] | null;
      readonly tools: readonly ListedTool[];
    }
  | { readonly type: "failed"; readonly problem: string }
  | { readonly type: "progress"; readonly id: number; readonly progress: ToolProgress }
  | {
      readonly type: "result";
      readonly id: number;
      readonly output: string;
      readonly content?: readonly ContentBlock[] | undefined;
      readonly data?: unknown;
    }
  | { readonly type: "effects"; readonly id: number; readonly effects: readonly ToolEffect[] }
  | { readonly type: "changes"; readonly id: number; readonly changes?: readonly RemoteChange[] | undefined }
  | { readonly type: "error"; readonly id: number; readonly error: SentError }
  | { readonly type: "pong" };
