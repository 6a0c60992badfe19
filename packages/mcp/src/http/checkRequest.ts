import { createHash, timingSafeEqual } from "node:crypto";
import { hostHeaderValidationResponse, localhostAllowedHostnames } from "@modelcontextprotocol/server";

/** Returns the response that refuses a request, or undefined when the request may pass. */
type RequestCheck = (request: Request) => Response | undefined;

/**
 * Checks Host against host names (no port; IPv6 in brackets), Origin against the server's own and those given, then the bearer
 * token where one is given. A page of another origin is refused by its Origin, and after DNS rebinding by its Host.
 */
export function createRequestCheck(
  hostnames: readonly string[],
  token: string | undefined,
  origins: readonly string[] = [],
): RequestCheck {
  const allowed = [...new Set([...localhostAllowedHostnames(), ...hostnames])];
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`);
  return (request) => {
    const refused = hostHeaderValidationResponse(request, allowed) ?? refuseOrigin(request, origins);
    if (refused || !expected) return refused;
    const given = (request.headers.get("authorization") ?? "").replace(/^bearer +/i, "Bearer ");
    return timingSafeEqual(digest(given), expected) ? undefined : unauthorized();
  };
}

/**
 * Refuses pages of other origins. The server speaks plain HTTP, so the origin of a page that it served begins so. A proxy for
 * HTTPS has an origin to be named.
 */
function refuseOrigin({ headers }: Request, origins: readonly string[]): Response | undefined {
  const origin = headers.get("origin");
  if (origin === null || origins.includes(origin)) return undefined;
  if (origin === URL.parse(`http://${headers.get("host")}`)?.origin) return undefined;
  const message =
    "Forbidden: this Origin is not the server's own; name it in allowedOrigins if its pages may call the tools";
  return refusal(403, -32_000, message);
}

/** Digests have equal lengths, so the comparison does not reveal the length of the token. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function unauthorized(): Response {
  const message =
    "Unauthorized: send the header Authorization: Bearer TOKEN with the token this server was started with";
  return refusal(401, -32_001, message, { "www-authenticate": 'Bearer realm="mcp"' });
}

/** Makes the response to a request that has no id, or whose id is not known. */
export function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status, headers });
}
