import { createHash } from "node:crypto";
import { withLegalCharacters } from "@toolcrib/core/internal";
import { serverPrefix } from "@toolcrib/kit/text";

const maxNameLength = 64;
const digestLength = 8;

/** Something of a server by the server's own name for it: a tool or a prompt. */
interface Listed {
  readonly server: string;
  readonly name: string;
}

/**
 * Returns the names under which tools or prompts are mounted: `mcp__server__name`, what the model APIs forbid replaced by `_`. A name that
 * is cut, or that others have too, ends in a digest of the whole one, so that the order of a list means nothing. One that is as its server
 * wrote it stays.
 */
export function mountedNames(all: readonly Listed[], isTaken: (name: string) => boolean = () => false): string[] {
  const plain = all.map(({ server, name }) => serverPrefix(server) + withLegalCharacters(name));
  const whole = all.map(({ server, name }) => `mcp__${server}__${name}`);
  const sharers = new Map<string, { all: number; unchanged: number }>();
  for (const [at, name] of plain.entries()) {
    const { all = 0, unchanged = 0 } = sharers.get(name) ?? {};
    sharers.set(name, { all: all + 1, unchanged: unchanged + (name === whole[at] ? 1 : 0) });
  }
  return all.map(({ server, name }, at) => {
    const [short = "", long = ""] = [plain[at], whole[at]];
    const sharing = sharers.get(short);
    const isOwn = sharing?.all === 1 || (sharing?.unchanged === 1 && short === long);
    const isCut = short.length < long.length || short.length > maxNameLength;
    return isOwn && !isCut && !isTaken(short) ? short : withDigest(short, JSON.stringify([server, name]));
  });
}

function withDigest(name: string, whole: string): string {
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, digestLength);
  return `${name.slice(0, maxNameLength - 1 - digestLength)}_${digest}`;
}
