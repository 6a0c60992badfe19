/** A chat as the page shows it, whichever protocol it comes by. */
export interface Chat {
  readonly entries: readonly Entry[];
  /** A turn runs. */
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  send(text: string, picture: File | undefined): void;
  /** Answers questions, by the id of the call. */
  answer(answers: Answers): void;
  stop(): void;
}

export type Answer = boolean | string | { args: Record<string, unknown> } | { output: string } | { always: true };
export type Answers = ReadonlyMap<string, Answer>;

export interface Entry {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | { readonly type: "picture"; readonly url: string }
  | Call;

export interface Call {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly args: object;
  /** Undefined until the call has ended. */
  readonly result?: string | undefined;
  readonly isError?: boolean;
  readonly question?: Question | undefined;
}

export interface Question {
  readonly text: string;
  /** The answers to choose from, of a question of the model. */
  readonly choices?: readonly string[] | undefined;
  readonly needsWords: boolean;
  /** The calls for which a yes for always would hold. */
  readonly always?: string | undefined;
  /** Those that would run. */
  readonly args: object;
}

/** The data of a policy's question, or of one of the model. */
export interface QuestionData {
  readonly remember?: { readonly text?: string };
  readonly choices?: readonly string[];
}
