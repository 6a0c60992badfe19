import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ensureDirectory } from "@toolcrib/kit/files";
import { AgentError } from "../errors.ts";
import type { ModelRequest, Provider, ProviderEvent } from "../provider.ts";

/** A recording: what a provider answered, and a digest of each request. One JSON file, to be committed with the test. */
interface Recording {
  readonly format: "toolcrib-recording";
  readonly version: 1;
  readonly name: string;
  readonly model: string;
  readonly exchanges: readonly { readonly request: string; readonly events: readonly ProviderEvent[] }[];
}

/** Passes every request to `provider` and writes its answers to `file`, after each whole reply. */
export function recordProvider(provider: Provider, file: string): Provider {
  const exchanges: { request: string; events: ProviderEvent[] }[] = [];
  const { name, model } = provider;
  return {
    name,
    model,
    async *send(request) {
      const events: ProviderEvent[] = [];
      const exchange = { request: digestOf(request), events };
      for await (const event of provider.send(request)) {
        if (event.type !== "activity") events.push(event);
        yield event;
      }
      exchanges.push(exchange);
      const recording: Recording = { format: "toolcrib-recording", version: 1, name, model, exchanges };
      ensureDirectory(dirname(file));
      await writeFile(file, `${JSON.stringify(recording, null, 2)}\n`);
    },
  };
}

/**
 * Creates a provider that answers from a recording, in its order, without a key or network. Throws an AgentError `invalid_request` when a request
 * differs from the recorded one, or when none is left.
 */
export function replayProvider(file: string): Provider {
  const { format, version, name, model, exchanges }: Recording = JSON.parse(readFileSync(file, "utf8"));
  if (format !== "toolcrib-recording" || version !== 1) throw differs(file, "is not a recording of version 1");
  let next = 0;
  return {
    name,
    model,
    async *send(request) {
      const exchange = exchanges[next];
      next += 1;
      if (!exchange) throw differs(file, `has ${exchanges.length} exchanges, request ${next} is one more`);
      if (exchange.request !== digestOf(request)) throw differs(file, `has another request ${next}`);
      yield* exchange.events;
    },
  };
}

function digestOf({ systemPrompt, messages, tools, toolChoice }: ModelRequest): string {
  const text = JSON.stringify({ systemPrompt, messages, tools, toolChoice });
  return createHash("sha256").update(text).digest("hex");
}

function differs(file: string, how: string): AgentError {
  return new AgentError({ code: "invalid_request", message: `The recording ${file} ${how}; record it again.` });
}
