import { redacted } from "./secrets.ts";

/** An address anywhere in a text: scheme, authority, path, query, fragment. */
const address = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s"'<>]*)/gi;

/** Nothing but variables to be filled in later. */
const isReference = /^(?:\$\{\w+\}|[:&])*$/;

/**
 * Returns `text` without what in its addresses may be a secret: user and password, the values of the query, the fragment. Host and path
 * stay. For errors, listings and logs.
 */
export function redactUrls(text: string): string {
  return text.replace(address, (whole: string, scheme: string, rest: string) => {
    // A password may hold `/`, `?` or `#` by mistake: then no parser finds the host, and all before the last @ is hidden.
    const [, user, place = "", query, fragment] =
      (URL.canParse(whole)
        ? /^(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
        : /^(?:(.*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s
      ).exec(rest) ?? [];
    return [
      scheme,
      user === undefined ? "" : `${hidden(user)}@`,
      place,
      query === undefined ? "" : `?${query.split("&").map(hiddenValue).join("&")}`,
      fragment === undefined ? "" : `#${hidden(fragment)}`,
    ].join("");
  });
}

function hiddenValue(pair: string): string {
  const at = pair.indexOf("=");
  return at < 0 ? hidden(pair) : `${pair.slice(0, at)}=${hidden(pair.slice(at + 1))}`;
}

function hidden(value: string): string {
  return isReference.test(value) ? value : redacted;
}
