/** A model server that may run on this machine; `baseURL` is its OpenAI-compatible root. */
export interface LocalServer {
  readonly label: string;
  /** The name in `-m NAME/model`. */
  readonly name: string;
  readonly baseURL: string;
}

const probeMs = 300;

/** In the order they are preferred; Ollama where `OLLAMA_HOST` says. */
export async function localServers(): Promise<LocalServer[]> {
  const { ollamaBaseURL } = await import("@toolcrib/agent/openai-compatible");
  return [
    { label: "Ollama", name: "ollama", baseURL: ollamaBaseURL() },
    { label: "LM Studio", name: "lmstudio", baseURL: "http://127.0.0.1:1234/v1" },
    { label: "llama.cpp", name: "llamacpp", baseURL: "http://127.0.0.1:8080/v1" },
  ];
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
