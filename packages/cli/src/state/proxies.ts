import http from "node:http";
import { proxyVariable, usesProxies } from "@toolcrib/agent/models";

/** Hosts of this machine are reached directly: a local model server stands behind no proxy. */
const local = ["localhost", "127.0.0.1", "[::1]", "::1"];

/**
 * Has requests of this process use the proxies that the environment names, as `NODE_USE_ENV_PROXY=1` does. Node 24.14 and later can do so
 * while it runs; an older one does it only with that variable. `web_fetch` asks without a proxy, as it checks addresses itself. An address that
 * Node cannot use is left alone, and `doctor` says that no proxy is used.
 */
export function useProxies(env: NodeJS.ProcessEnv): void {
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? "";
  if (proxyVariable(env) === undefined || noProxy.trim() === "*" || usesProxies()) return;
  const own = { https_proxy: env.https_proxy ?? env.HTTPS_PROXY, http_proxy: env.http_proxy ?? env.HTTP_PROXY };
  try {
    http.setGlobalProxyFromEnv?.({ ...own, no_proxy: [...local, noProxy].filter(Boolean).join(",") });
  } catch {
    // Not a proxy of HTTP: what it was meant for is not known here.
  }
}
