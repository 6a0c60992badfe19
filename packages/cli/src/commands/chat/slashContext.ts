import type { AgentEvent } from "@toolcrib/agent";
import type { BackgroundJobs } from "@toolcrib/tools-bash";
import type { OfferedModels } from "../../model/offeredModels.ts";
import type { Program } from "../../program.ts";
import type { Asker, PickChoice } from "../../terminal/ask.ts";
import type { RecentCalls } from "../../terminal/recentCalls.ts";
import type { Conversation } from "../conversation.ts";

/** A command of the conversation: a line that begins with a slash. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  /** Its arguments, as `/help` shows them. */
  readonly takes?: string | undefined;
  readonly summary: string;
  /** Lists candidates for the next word after `words`. */
  complete?(context: SlashContext, words: readonly string[]): readonly string[] | Promise<readonly string[]>;
  /** Returns what the user is told, if anything. `text` is all that follows the name. */
  run(context: SlashContext, words: readonly string[], text: string): CommandReply | Promise<CommandReply>;
}

export type CommandReply = string | undefined;

export interface SlashContext {
  readonly program: Program;
  readonly conversation: Conversation;
  readonly jobs: BackgroundJobs;
  readonly calls: RecentCalls;
  /** Commands beside the built-in ones, by their heading in `/help`. */
  readonly more: Readonly<Record<string, readonly SlashCommand[]>>;
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  /** Changes the model; resolves to why it is that one, where the user has left something open. */
  useModel(name: string): Promise<string | undefined>;
  offeredModels(): Promise<OfferedModels>;
  turn(start: (signal: AbortSignal) => AsyncIterable<AgentEvent>): Promise<void>;
  /** Sends the model a message with the files that are named by `@` in what was typed. */
  send(message: string, typed: string): Promise<void>;
  share(words: readonly string[]): Promise<CommandReply>;
  /** Asks the user; absent where there is nobody to ask, as are choices. */
  readonly asker?: Asker | undefined;
  readonly pick?: PickChoice | undefined;
  leave(): void;
}
