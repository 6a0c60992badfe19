import type {
  ApprovalQuestion,
  ChatTool,
  ContentBlock,
  ExecuteOptions,
  ToolError,
  ToolOutcome,
  ToolRegistry,
} from "@toolcrib/core";
import { attempt, schemasForModel } from "@toolcrib/core/internal";

/**
 * The part of ToolRegistry that adapters use. Given as a shape, so that a registry of another installed copy of core fits too.
 */
export interface ToolSource
  extends Pick<ToolRegistry, "get" | "getEnabledSchemas" | "hasTool" | "isToolEnabled" | "check" | "execute"> {
  clone(): Pick<ToolRegistry, "getToolNames" | "enable" | "getEnabledSchemas">;
}

/**
 * Options for every call that a loop makes through an adapter. For anything finer use middleware of the registry. `approve` answers
 * the questions of guards while the loop waits.
 */
export type AdapterOptions = Pick<ExecuteOptions, "labels" | "timeoutMs" | "approve">;

/** For adapters that run the calls themselves: the signal ends them. */
export type RunOptions = AdapterOptions & Pick<ExecuteOptions, "signal">;

export type ImageBlock = Extract<ContentBlock, { type: "image" }>;

export const dataUrl = ({ data, mimeType }: ImageBlock): string => `data:${mimeType};base64,${data}`;

/** Stands before images that an API takes only behind the results. */
export const imagesHeading = (name: string): string => `Images of the result of ${name}:`;

/** The outcome of a call. `text` is what `execute` of the registry returns, for a success or a failure. */
export interface ToolAnswer {
  readonly text: string;
  /** Rich output beside the text. */
  readonly images: readonly ImageBlock[];
  /** The content of the text, for programs. */
  readonly data: unknown;
  /** Set where the call failed. */
  readonly error: ToolError | undefined;
}

/** Runs one call through the registry. Never rejects. */
export async function callTool(
  registry: ToolSource,
  name: string,
  args: unknown,
  options: RunOptions & Pick<ExecuteOptions, "callId" | "caller">,
): Promise<ToolAnswer> {
  const { labels, timeoutMs, signal, callId, approve, caller } = options;
  const outcomes: ToolOutcome[] = [];
  const onOutcome = (outcome: ToolOutcome): void => void outcomes.push(outcome);
  const text = await registry.execute(name, args, {
    ...{ labels, timeoutMs, signal, callId, approve, onOutcome },
    ...(caller && { caller }),
  });
  const [outcome] = outcomes;
  const images = outcome?.content?.filter((block) => block.type === "image") ?? [];
  const [data, error] = outcome?.ok === false ? [undefined, outcome.error] : [outcome?.data, undefined];
  return withPictures({ text, images, data, error }, pictureTypes);
}

const pictureTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Types of pictures that Gemini takes. */
export const geminiPictureTypes: readonly string[] = pictureTypes.filter((type) => type !== "image/gif");

/** Returns an answer with the pictures of these types alone; the others are told in words, as a service would refuse the whole request. */
export function withPictures(answer: ToolAnswer, types: readonly string[]): ToolAnswer {
  const images = answer.images.filter(({ mimeType }) => types.includes(mimeType));
  if (images.length === answer.images.length) return answer;
  const odd = answer.images.filter(({ mimeType }) => !types.includes(mimeType));
  const words = odd.map(
    ({ mimeType }) => `[picture left out: it is ${mimeType}, and the model API accepts ${types.join(", ")}]`,
  );
  return { ...answer, images, text: [answer.text, ...words].join("\n") };
}

/** Returns how a call would end if guards would deny it or ask about it: the denial, or the question. */
export async function decisionOn(
  registry: ToolSource,
  name: string,
  args: unknown,
  options: Pick<ExecuteOptions, "labels" | "callId">,
): Promise<{ readonly denied: string } | { readonly question: ApprovalQuestion } | undefined> {
  const result = await registry.check(name, args, options);
  if (result.ok) return undefined;
  const { code, details, message } = result.error;
  if (code === "approval_required" && "question" in details) return { question: details.question };
  return code === "permission_denied" ? { denied: message } : undefined;
}

/**
 * Returns the value of arguments that come as JSON text. Empty text means `{}`; text that is not JSON is passed on, and the registry
 * refuses it.
 */
export function parseArguments(text: string): unknown {
  const value = text.trim() === "" ? {} : attempt(() => JSON.parse(text) as unknown);
  return value === undefined ? text : value;
}

/** Returns the schemas of the enabled tools that a model may call, in registration order. */
export function enabledSchemas(registry: Pick<ToolSource, "get" | "getEnabledSchemas">): ChatTool[] {
  return schemasForModel(registry.getEnabledSchemas(), registry);
}

/** Returns the schemas of all tools that a model may call, enabled or not, in registration order. */
export function everySchema(registry: ToolSource): ChatTool[] {
  const copy = registry.clone();
  for (const name of copy.getToolNames()) copy.enable(name);
  return schemasForModel(copy.getEnabledSchemas(), registry);
}
