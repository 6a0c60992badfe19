import { isObject } from "@toolcrib/core/text";

/** Returns the first variable that names a proxy. */
export function proxyVariable(env: NodeJS.ProcessEnv): string | undefined {
  return ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"].find((name) => env[name]);
}

/** Returns whether requests of this process go through proxies: by Node's variable, its flag or `http.setGlobalProxyFromEnv`. */
export function usesProxies(): boolean {
  const agent: unknown = process.getBuiltinModule?.("node:http")?.globalAgent;
  const options: unknown = isObject(agent) ? agent.options : undefined;
  return isObject(options) && options.proxyEnv !== undefined;
}

/** Returns advice where the environment names a proxy that this process does not use; none for a host of this machine. */
export function unusedProxy(baseURL: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  const name = proxyVariable(env);
  const host = URL.parse(baseURL ?? "https://service")?.hostname ?? "";
  const isLocal = host === "localhost" || host === "[::1]" || host.startsWith("127.");
  if (name === undefined || isLocal || usesProxies()) return [];
  return [` ${name} is set, but Node uses it only with NODE_USE_ENV_PROXY=1 (since 22.21 and 24.5).`];
}
