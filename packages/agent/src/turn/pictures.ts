import type { Message } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { modelRules } from "../providers/models/models.ts";
import { type Picture, picturesOf, takenPictures, whyNotTaken } from "../providers/models/pictures.ts";

interface Conversation {
  readonly provider: Provider;
  readonly history: { readonly messages: readonly Message[] };
}

/**
 * Keeps the pictures of a conversation within what the model takes, as far as that is known. They are bounded before they are first sent:
 * one that is made smaller or left out later would change what the model has seen.
 */
export class PictureLimiter {
  readonly #state: Conversation;
  /** Taken, but maybe not in the conversation yet: calls run side by side. */
  #taken: readonly Picture[] = [];

  constructor(state: Conversation) {
    this.#state = state;
  }

  /** Says why a picture cannot join the conversation. Undefined where it can, and then it counts. */
  refuse(picture: Picture): string | undefined {
    const limits = modelRules(this.#state.provider)?.pictures;
    if (!limits) return undefined;
    const { messages } = this.#state.history;
    const inside = new Set(messages.flatMap(picturesOf));
    this.#taken = this.#taken.filter((one) => !inside.has(one));
    const why = whyNotTaken(picture, [...takenPictures(messages, limits), ...this.#taken], limits);
    if (why === undefined) this.#taken = [...this.#taken, picture];
    return why;
  }
}
