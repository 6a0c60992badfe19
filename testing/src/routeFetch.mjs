// For a program that is started with `--import` of this file: requests to the services' own addresses go to the server that
// TOOLCRIB_TEST_SERVICES names. At other addresses providers ask for less.
const services = new Set(["api.anthropic.com", "api.openai.com", "openrouter.ai"]);
const server = process.env.TOOLCRIB_TEST_SERVICES;
const plain = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const { hostname, pathname, search } = new URL(typeof input === "object" && "url" in input ? input.url : input);
  return plain(services.has(hostname) ? `${server}${pathname}${search}` : input, init);
};
