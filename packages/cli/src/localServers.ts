/** A model server that may run on this machine; `baseURL` is its OpenAI-compatible root. */
export interface LocalServer {
  readonly label: string;
  /** The name in `-m NAME/model`. */
  readonly name: string;
  readonly baseURL: string;
}

const probeMs = 300;

/** In the order they are preferred. `OLLAMA_HOST` is honoured in each form that Ollama takes. */
export function localServers(env: NodeJS.ProcessEnv): LocalServer[] {
  return [
    { label: "Ollama", name: "ollama", baseURL: `${ollamaOrigin(env.OLLAMA_HOST?.trim())}/v1` },
    { label: "LM Studio", name: "lmstudio", baseURL: "http://127.0.0.1:1234/v1" },
    { label: "llama.cpp", name: "llamacpp", baseURL: "http://127.0.0.1:8080/v1" },
  ];
}

/** `host`, `host:port`, `:port` and URLs; 0.0.0.0 is where a server listens, not where it is reached. */
function ollamaOrigin(host: string | undefined): string {
  const given = host
    ? host.includes("://")
      ? host
      : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`
    : "";
  if (!URL.canParse(given)) return "http://127.0.0.1:11434";
  const url = new URL(given);
  if (!url.port && !/:\d+\/?$/.test(given)) url.port = url.protocol === "https:" ? "443" : "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return url.origin;
}

/** The first model for conversations that a server offers; undefined when it does not answer in time, or not as such a server does. */
export async function firstModel(server: LocalServer, timeoutMs: number = probeMs): Promise<string | undefined> {
  try {
    const response = await fetch(`${server.baseURL}/models`, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    const { data } = (await response.json()) as { data?: readonly { id?: unknown }[] };
    const names = (data ?? []).map(({ id }) => id).filter((id) => typeof id === "string" && id !== "") as string[];
    return names.find((name) => !/embed/i.test(name));
  } catch {
    return undefined;
  }
}
