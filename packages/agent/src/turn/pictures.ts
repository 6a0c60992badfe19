import { messageOf } from "@toolcrib/core/text";
import { AgentError } from "../errors.ts";
import type { ImageBlock, Message, TextBlock, ToolMessage, UserMessage } from "../messages.ts";
import type { Provider } from "../provider.ts";
import { modelRules } from "../providers/models/models.ts";
import {
  acceptedPictures,
  type Picture,
  pictureProblem,
  picturesOf,
  pictureTypeProblem,
} from "../providers/models/pictures.ts";
import { abortedError } from "../requestClock.ts";

/** Resolves to a picture that services take beside many others, as `fitEncodedPicture` does. */
export async function fitPicture(picture: ImageBlock, signal: AbortSignal | undefined): Promise<ImageBlock> {
  const { fitEncodedPicture } = await import("@toolcrib/kit/files");
  return fitEncodedPicture(picture, signal);
}

interface Conversation {
  readonly provider: Provider;
  readonly history: { readonly messages: readonly Message[] };
}

/** Keeps pictures within what the model takes, before they are first sent: a later change would change what the model has seen. */
export class PictureLimiter {
  readonly #state: Conversation;
  /** Taken, but maybe not in the conversation yet: calls run side by side. */
  #taken: readonly Picture[] = [];

  constructor(state: Conversation) {
    this.#state = state;
  }

  /** Says why a picture cannot join the conversation. Undefined where it can, and then it counts. */
  refuse(picture: Picture): string | undefined {
    const odd = pictureTypeProblem(picture, this.#state.provider.model);
    const limits = modelRules(this.#state.provider)?.pictures;
    if (odd !== undefined || !limits) return odd;
    const { messages } = this.#state.history;
    const inside = new Set(messages.flatMap(picturesOf));
    this.#taken = this.#taken.filter((one) => !inside.has(one));
    const why = pictureProblem(picture, [...acceptedPictures(messages, limits), ...this.#taken], limits);
    if (why === undefined) this.#taken = [...this.#taken, picture];
    return why;
  }
}

/** Resolves to a message with its pictures as they are sent. Rejects with `invalid_request` for one that cannot be, and with `aborted`. */
export async function withFittedPictures(
  content: string | UserMessage["content"],
  pictures: PictureLimiter,
  signal: AbortSignal | undefined,
): Promise<string | UserMessage["content"]> {
  if (typeof content === "string") return content;
  const refuse = (why: string): AgentError =>
    new AgentError({ code: "invalid_request", message: `A picture of the message cannot be sent: ${why}.` });
  const fitted: (TextBlock | ImageBlock)[] = [];
  for (const block of content) {
    if (block.type === "text") {
      fitted.push(block);
      continue;
    }
    const picture = await fitPicture(block, signal).catch((error: unknown) => {
      if (signal?.aborted) throw abortedError(signal);
      throw refuse(messageOf(error));
    });
    const why = pictures.refuse(picture);
    if (why !== undefined) throw refuse(why);
    fitted.push(picture);
  }
  return fitted;
}

/** Returns a result without its pictures, which says so. */
export function withoutPictures({ content = [], ...result }: ToolMessage): ToolMessage {
  const rest = content.filter(({ type }) => type !== "image");
  const output = `${result.output}\n[pictures left out: the service refused the request that contained them]`;
  return { ...result, output, ...(rest.length > 0 && { content: rest }) };
}
