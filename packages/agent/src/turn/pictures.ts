import { readImageHeader } from "@toolcrib/kit/text";
import type { ImageBlock, Message } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { modelRules } from "../providers/models/models.ts";

interface Conversation {
  readonly provider: Provider;
  readonly history: { readonly messages: readonly Message[] };
}

export type Picture = Pick<ImageBlock, "data" | "mimeType">;

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
    const inside = picturesIn(this.#state.history.messages);
    this.#taken = this.#taken.filter((one) => !inside.includes(one));
    const earlier = [...inside, ...this.#taken];
    const [size, { side, many }] = [sizeOf(picture), limits];
    const longest = Math.max(size.width, size.height);
    const pixels = `it is ${size.width} x ${size.height} pixels, and the model takes at most`;
    if (picture.data.length > limits.bytes)
      return `it has ${picture.data.length} bytes as base64, and the model takes at most ${limits.bytes}`;
    if (longest > side) return `${pixels} ${side} a side`;
    if (earlier.length >= limits.count)
      return `the conversation has ${earlier.length} pictures, and the model takes no more`;
    if (earlier.length >= many.count) {
      const beside = `beside ${many.count} other pictures`;
      if (longest > many.side) return `${pixels} ${many.side} a side ${beside}`;
      if (earlier.some((one) => Math.max(sizeOf(one).width, sizeOf(one).height) > many.side))
        return `an earlier one has more than ${many.side} pixels a side, which the model does not take ${beside}`;
    }
    this.#taken = [...this.#taken, picture];
    return undefined;
  }
}

function picturesIn(messages: readonly Message[]): Picture[] {
  return messages.flatMap(({ content = [] }) =>
    [...content].flatMap((block) => (block.type === "image" ? [block as Picture] : [])),
  );
}

const sizes = new WeakMap<Picture, { readonly width: number; readonly height: number }>();

/** Nothing where the picture is of a kind that is not known. */
function sizeOf(picture: Picture): { readonly width: number; readonly height: number } {
  const known = sizes.get(picture) ?? readImageHeader(Buffer.from(picture.data, "base64")) ?? { width: 0, height: 0 };
  sizes.set(picture, known);
  return known;
}
