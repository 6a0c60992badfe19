/** A yes that was given for good: to exactly one thing, in one folder, by one tool. */
export interface RememberedAnswer {
  /** Digest of all that it holds for: the folders, the tool as it was, and exactly what the call does. */
  readonly id: string;
  readonly tool: string;
  readonly origin: string;
  /** The roots of the policy that it was given to. */
  readonly folders: readonly string[];
  /** The calls that it allows, in one line for people. */
  readonly text: string;
  /** When it was given, as an ISO date. */
  readonly at: string;
}

/** A store of remembered answers. Only the user may be able to write there. */
export interface RememberedStore {
  load(): Promise<readonly RememberedAnswer[]>;
  /** Replaces the answers at once, with no other change in between. */
  change(change: (answers: readonly RememberedAnswer[]) => readonly RememberedAnswer[]): Promise<void>;
}

/** The oldest give way to more. */
export const mostAnswers = 1000;

/** Makes a store for as long as the process runs. */
export function memoryStore(): RememberedStore {
  let kept: readonly RememberedAnswer[] = [];
  return {
    load: async () => kept,
    async change(change) {
      kept = change(kept).slice(-mostAnswers);
    },
  };
}
