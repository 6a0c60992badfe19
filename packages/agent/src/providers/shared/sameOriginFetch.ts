import { AgentError, advised } from "../../errors.ts";

const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Fetches and follows redirects only within the origin. To another origin they would carry the conversation and headers meant
 * for the first. Throws an AgentError that names the other origin.
 */
export async function sameOriginFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  let place = new URL(typeof input === "object" && "url" in input ? input.url : input);
  let request = input;
  for (let count = 0; ; count += 1) {
    const response = await fetch(request, { ...init, redirect: "manual" });
    const target = targetOf(response, place);
    if (target === undefined || count === mostRedirects) return response;
    await response.body?.cancel();
    if (target.origin !== place.origin) throw redirected(target);
    place = target;
    request = target;
  }
}

function targetOf(response: Response, place: URL): URL | undefined {
  const location = response.headers.get("location");
  if (!redirects.has(response.status) || location === null || !URL.canParse(location, place.href)) return undefined;
  return new URL(location, place);
}

function redirected({ origin, protocol }: URL): AgentError {
  const where = origin === "null" ? protocol : origin;
  const problem = `The service answered with a redirect to another origin, ${where}. Nothing was sent there.`;
  const advice = ["If it is the right address, set ", { option: "baseURL" }, " to it."] as const;
  return new AgentError({ code: "bad_reply", ...advised(problem, advice) });
}
