// The address of a page, and what of it is refused before anything is sent.
import { invalidArgument } from "@toolcrib/core";

const longestUrl = 8192;

/** Ports that the fetch standard refuses (https://fetch.spec.whatwg.org/#port-blocking). */
const badPorts = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179
  389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060
  5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`
    .split(/\s+/)
    .map(Number),
);

/** Reads the argument `url`. Throws an invalid-argument error, in words, for what is no address of a page. */
export function parseAddress(text: string): URL {
  if (text.length > longestUrl) throw invalidArgument("url", `must have at most ${longestUrl} characters`);
  if (!URL.canParse(text)) throw invalidArgument("url", "must be a complete address, as in https://example.com/page");
  const url = new URL(text);
  const reason = whyRefused(url);
  if (reason !== undefined) throw invalidArgument("url", reason);
  url.hash = "";
  return url;
}

/** Says why an address cannot be fetched, whoever named it; undefined if it can. */
export function whyRefused(url: URL): string | undefined {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
  if (badPorts.has(portOf(url))) return `must not name port ${portOf(url)}, which is for other services than the web`;
  return undefined;
}

/** Returns the port of a URL, also where it is the default one. */
export function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** Returns the host of a URL without the brackets of an IPv6 address, and without a dot at its end. */
export function nameOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}
