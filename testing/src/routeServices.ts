import { afterEach, beforeEach } from "vitest";

const services: ReadonlySet<string> = new Set(["api.anthropic.com", "api.openai.com", "openrouter.ai"]);

/** In the tests of a file, requests to the services' own addresses go to the server. At other addresses providers ask for less. */
export function routeServices(server: { readonly url: string }): void {
  const plain = globalThis.fetch;
  beforeEach(() => {
    globalThis.fetch = (input, init) => {
      const { hostname, pathname, search } = new URL(typeof input === "object" && "url" in input ? input.url : input);
      return plain(services.has(hostname) ? `${server.url}${pathname}${search}` : input, init);
    };
  });
  afterEach(() => {
    globalThis.fetch = plain;
  });
}

/** The same for a program: its environment. */
export function routedServices(server: { readonly url: string }): Record<string, string> {
  const routing = new URL("./routeFetch.mjs", import.meta.url).href;
  const keys = { ANTHROPIC_API_KEY: "sk-routed-0123456789", OPENAI_API_KEY: "sk-routed-0123456789" };
  return { ...keys, NODE_OPTIONS: `--import=${routing}`, TOOLCRIB_TEST_SERVICES: server.url };
}
