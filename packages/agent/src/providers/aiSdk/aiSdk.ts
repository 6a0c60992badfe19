import { type OptionSpecs, option } from "@toolcrib/core/internal";
import { isObject } from "@toolcrib/core/text";
import { invalidOption } from "../../errors.ts";
import { readAgentOptions } from "../../options.ts";
import type { Abilities, ModelRequest, Provider, ProviderEvent } from "../../provider.ts";
import { secretsOf } from "../errors/secrets.ts";
import { badReply, type Service, serviceFault, wrongKind } from "../errors/wireErrors.ts";
import { priced } from "../models/cost.ts";
import type { ModelPrice } from "../models/modelRules.ts";
import { modelPrice, modelRules } from "../models/models.ts";
import { canForce } from "../models/settings.ts";
import { providerSpecs } from "../shared/options.ts";
import { createTimedSend, type Send, streamReply } from "../shared/streamReply.ts";
import { type AiSdkModelOptions, type AiSdkWire, createToCall } from "./mapping.ts";
import { type AiSdkPart, AiSdkReply, contentParts } from "./reply.ts";

/** A language model of the AI SDK, by shape: `openai("…")`, `google("…")`, `bedrock("…")` and so on. */
interface AiSdkModel {
  /** `v3` (AI SDK 6) or `v4` (AI SDK 7). */
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

const { maxTokens, reasoning, stream, requestTimeoutMs, idleTimeoutMs, contentTimeoutMs, price } = providerSpecs;
const specs: OptionSpecs<AiSdkModelOptions> = {
  ...{ maxTokens, reasoning, stream, requestTimeoutMs, idleTimeoutMs, contentTimeoutMs, price },
  providerOptions: option.plain,
  headers: option.plain,
  secrets: option.texts,
};

/**
 * Returns a provider from a model of the AI SDK (https://ai-sdk.dev/providers). Nothing is kept at the service, as far as its options allow that.
 * Throws `invalid_option` for a model of another specification version and for wrong options.
 */
export function fromAiSdkModel(model: AiSdkModel, options: AiSdkModelOptions = {}): Provider {
  readAgentOptions<AiSdkModelOptions>("fromAiSdkModel", options, specs);
  checkModel(model, options);
  const vendor = model.provider.split(".", 1)[0] || "unknown";
  const known = { name: vendor, model: model.modelId };
  const service: Service = {
    name: "ai-sdk",
    label: `The model ${model.modelId}`,
    model: `${vendor}/${model.modelId}`,
    baseURL: undefined,
    keyVariable: undefined,
    secrets: secretsOf({ keys: options.secrets ?? [], headers: options.headers }),
  };
  const rules = modelRules(known, true);
  const abilities: Abilities = { forcedTools: canForce(rules, options.reasoning), answersBy: () => false };
  const send = createAiSdkSend(model, service, options.price ?? modelPrice(known), options, {
    isV4: model.specificationVersion === "v4",
    bindsThinking: rules?.bindsThinking === true,
    forcedTools: abilities.forcedTools,
  });
  return { name: service.name, model: service.model, abilities, send };
}

function createAiSdkSend(
  model: AiSdkModel,
  service: Service,
  price: ModelPrice | undefined,
  options: AiSdkModelOptions,
  wire: AiSdkWire,
): Send {
  const author = `${service.name}/${service.model}`;
  const toCall = createToCall(author, options, wire);
  const toError = (error: unknown): unknown => asServiceError(service, error);
  const open = async (
    request: ModelRequest,
    abortSignal: AbortSignal,
  ): Promise<Iterable<AiSdkPart> | AsyncIterable<AiSdkPart>> => {
    const call = { ...toCall(request), abortSignal } as never;
    try {
      if (options.stream === false) return contentParts(await model.doGenerate(call));
      const { stream, response } = (await model.doStream(call)) as {
        stream: AsyncIterable<AiSdkPart>;
        response?: unknown;
      };
      checkKind(service, response);
      return stream;
    } catch (error) {
      throw toError(error);
    }
  };
  const read = (request: ModelRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> => {
    return streamReply({
      service,
      signal,
      reducer: new AiSdkReply(service, author, toError),
      toShown: (event) => (event.type === "reply" ? priced(event, price) : event),
      open: async (own) => ({ chunks: await open(request, own) }),
    });
  };
  return createTimedSend(options, read);
}

function checkModel(model: unknown, { reasoning }: AiSdkModelOptions): void {
  const fields = isObject(model) ? model : {};
  const { specificationVersion: version, provider, modelId } = fields;
  if (typeof provider !== "string" || typeof modelId !== "string" || typeof fields.doStream !== "function") {
    throw invalidOption(
      'fromAiSdkModel needs a language model of the AI SDK, such as openai("gpt-6-luna"); a name is not enough.',
    );
  }
  if (version !== "v3" && version !== "v4") {
    const words = `${modelId} is a model of specification version ${JSON.stringify(version)}`;
    throw invalidOption(`fromAiSdkModel: ${words}; use a vendor package of AI SDK 6 or 7 (v3 or v4).`);
  }
  if (reasoning !== undefined && version === "v3") {
    throw invalidOption(
      "fromAiSdkModel: models of AI SDK 6 do not accept the option reasoning; set it in providerOptions.",
    );
  }
}

/** Returns an error of the AI SDK in the shape that services' SDKs give theirs, so that one place words all of them. */
function asServiceError(service: Service, error: unknown): unknown {
  if (!isObject(error) || typeof error.message !== "string") return error;
  const { name, statusCode, responseHeaders, data, cause, value } = error;
  // A chunk that the AI SDK does not know may be an error of the service.
  if (isObject(value) && value.type === "error") return serviceFault(value.error ?? value);
  if (notAReply.has(name)) return badReply(service, `was not understood by the AI SDK (${String(name)}).`, error);
  if (name === undefined) return serviceFault(error);
  if (name !== "AI_APICallError") return error;
  return Object.assign(new Error(error.message, { cause }), {
    name,
    status: typeof statusCode === "number" && statusCode >= 400 ? statusCode : undefined,
    headers: isObject(responseHeaders) ? new Headers(responseHeaders as Record<string, string>) : undefined,
    error: isObject(data) ? data : undefined,
  });
}

const notAReply: ReadonlySet<unknown> = new Set([
  "AI_JSONParseError",
  "AI_TypeValidationError",
  "AI_InvalidResponseDataError",
  "AI_EmptyResponseBodyError",
]);

/** Throws for a web page, which would be read as an empty stream. */
function checkKind(service: Service, response: unknown): void {
  const headers = isObject(response) && isObject(response.headers) ? response.headers : {};
  const type = String(headers["content-type"] ?? "").split(";", 1)[0];
  if (type === "text/html" || type === "text/plain") throw wrongKind(service, type);
}
