import type { SessionFolder } from "@toolcrib/agent/sessions";

/** The journal that a conversation writes, locked so that no other process does. */
export class SessionLock {
  readonly #sessions: SessionFolder;
  #locked: { readonly journal: string; release(): void } | undefined;

  constructor(sessions: SessionFolder) {
    this.#sessions = sessions;
  }

  get journal(): string | undefined {
    return this.#locked?.journal;
  }

  /** Locks `journal` and runs `use`; releases the last one only if that succeeds, else the new one. */
  async moveTo<Result>(journal: string | undefined, use: () => Promise<Result>): Promise<Result> {
    if (journal === this.journal) return use();
    const taken = journal === undefined ? undefined : await this.#sessions.lock(journal);
    try {
      const result = await use();
      this.release();
      if (taken && journal !== undefined) this.#locked = { journal, release: taken.release };
      return result;
    } catch (error) {
      taken?.release();
      throw error;
    }
  }

  release(): void {
    this.#locked?.release();
    this.#locked = undefined;
  }
}
