import type { IncomingMessage } from "node:http";
import {
  answerWith,
  sharedServer,
  sharedWireServer,
  temporaryServer,
  type WireFormat,
  wireFormats,
} from "@toolcrib/testing";
import OpenAI from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent.ts";
import type { Provider } from "../provider.ts";
import { AnthropicProvider } from "./anthropic/anthropic.ts";
import { OpenAICompatibleProvider } from "./chat/openaiCompatible.ts";
import { OpenRouterProvider } from "./chat/openrouter.ts";
import { OpenAIProvider } from "./openai/openai.ts";

const apiKey = "sk-redirect-0123456789";
const shared = { apiKey, headers: { "x-team-secret": "blue-team-secret" }, model: "m" } as const;

const providers: [name: string, format: WireFormat, create: (origin: string) => Provider][] = [
  ["OpenAI", "responses", (origin) => new OpenAIProvider({ ...shared, baseURL: `${origin}/v1` })],
  ["Anthropic", "messages", (origin) => new AnthropicProvider({ ...shared, baseURL: origin })],
  ["OpenRouter", "chat", (origin) => new OpenRouterProvider({ ...shared, baseURL: `${origin}/v1` })],
  ["compatible", "chat", (origin) => new OpenAICompatibleProvider({ ...shared, baseURL: `${origin}/v1` })],
];

const elsewhere = await sharedWireServer();
let seen: IncomingMessage[];
/** Returns the redirect with which the gate answers a request; undefined for a 404. */
let redirect: (url: string) => { status: number; location: string } | undefined;

const gate = await sharedServer((request, response) => {
  seen.push(request);
  const to = redirect(request.url ?? "");
  request.resume();
  request.on("end", () => response.writeHead(to?.status ?? 404, to && { location: to.location }).end());
});
beforeEach(() => {
  seen = [];
});

describe.each(providers)("%s", (name, format, create) => {
  const [all, again] =
    name === "OpenAI"
      ? [
          [301, 302, 303, 307, 308],
          [301, 302, 307, 308],
        ]
      : [[303, 307], [308]];
  test.each(all)("follows no redirect (%s) to another origin", async (status) => {
    redirect = (url) => ({ status, location: `${elsewhere.url}${url}?key=${apiKey}` });
    elsewhere.script(answerWith({ text: "Stolen." }));
    const error: unknown = await new Agent(create(gate)).chat("Secret plans.").catch((thrown) => thrown);
    expect(error).toMatchObject({ retryable: false });
    if (status !== 303)
      expect(error).toMatchObject({ code: "bad_reply", message: expect.stringContaining(elsewhere.url) });
    expect(String((error as Error).stack)).not.toContain(apiKey);
    expect(elsewhere.requests).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  test.each(again)("sends the same request again within its origin (%s)", async (status) => {
    redirect = (url) =>
      url.startsWith("/old")
        ? { status, location: url.slice("/old".length) }
        : { status: 307, location: `${elsewhere.url}/${format}` };
    const error: unknown = await new Agent(create(`${gate}/old`)).chat("Plans.").catch((thrown) => thrown);
    expect(seen.map(({ method }) => method)).toEqual(["POST", "POST"]);
    expect(seen[1]?.url).toBe(seen[0]?.url?.slice("/old".length));
    expect(seen[1]?.headers["content-length"]).toBe(seen[0]?.headers["content-length"]);
    expect(seen[1]?.headers["x-team-secret"]).toBe("blue-team-secret");
    expect(error).toMatchObject({ message: expect.stringContaining(elsewhere.url) });
    expect(elsewhere.requests).toEqual([]);
  });

  test("does not follow redirects without end", async () => {
    redirect = (url) => ({ status: 307, location: url });
    await expect(new Agent(create(gate)).chat("Plans.")).rejects.toMatchObject({ retryable: false });
    expect(seen).toHaveLength(6);
  });
});

test.each(wireFormats)("a redirect within the origin reaches the answer over the %s wire", async (format) => {
  const proxied = await temporaryServer((request, response) => {
    if (request.url?.startsWith("/old")) {
      response.writeHead(308, { location: request.url.slice("/old".length) }).end();
      return;
    }
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const answer = await fetch(`${elsewhere.url}${request.url}`, { method: "POST", body: Buffer.concat(parts) });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  const [, , create] = providers.find(([, wire]) => wire === format) ?? [];
  elsewhere.script(answerWith({ text: "Here." }));
  expect(await new Agent(create?.(`${proxied}/old`) as Provider).chat("Hello")).toBe("Here.");
});

test("a ready client handles redirects itself", async () => {
  redirect = (url) => ({ status: 307, location: `${elsewhere.url}${url}` });
  elsewhere.script(answerWith({ text: "Followed." }));
  const client = new OpenAI({ apiKey, baseURL: `${gate}/v1` });
  expect(await new Agent(new OpenAIProvider({ client })).chat("Hello")).toBe("Followed.");
});
