import type { ContentBlock } from "@toolcrib/core";
import type { Answer } from "../conversation/waiting.ts";
import type { ImageBlock, TextBlock, Usage } from "../messages.ts";

/** A session as people read it: everything that happened in it, also what the conversation no longer holds. Times are ISO 8601, UTC. */
export interface Transcript {
  readonly name?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly systemPrompt: string;
  /** `provider/model` of the replies, in the order of their first. */
  readonly models: readonly string[];
  readonly turns: readonly TranscriptTurn[];
  readonly usage?: Usage | undefined;
}

/** A message of the user and what followed. Times are those of the journal; a journal of before they were written has none. */
export interface TranscriptTurn {
  readonly user: readonly (TextBlock | ImageBlock)[];
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly items: readonly TranscriptItem[];
  /** Tokens and cost of its replies, where the service told. */
  readonly usage?: Usage | undefined;
}

export type TranscriptItem =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | TranscriptCall
  /** Something that happened to the conversation itself. */
  | { readonly type: "note"; readonly text: string };

/** A call of a tool and its result, if it has one. */
export interface TranscriptCall {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  /** The question that the user was asked about it. */
  readonly question?: string | undefined;
  readonly answer?: Answer | undefined;
}
