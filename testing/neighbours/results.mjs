// Tells what of a raw result is missing in what a model is shown.

/** The most characters of a long text that must be shown: the rest may be cut with a notice. */
const head = 2000;

/** All strings in a value. */
function stringsOf(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

/** The values in structured data, as a text may show them. */
function valuesOf(value) {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(valuesOf);
  return [String(value)];
}

/** Returns the parts of `answer`, a response of JSON-RPC to `tools/call`, that no text of `request` shows. `secrets` may be hidden. */
export function missingIn(request, answer, secrets) {
  const shown = stringsOf(request).join("\n");
  const has = (text) =>
    flat(shown).includes(flat(text)) || flat(shown).includes(flat(JSON.stringify(text).slice(1, -1)));
  const pieces = (text) =>
    secrets.reduce((parts, secret) => parts.flatMap((part) => part.split(secret)), [text.slice(0, head)]);
  const lacksText = (text) => pieces(text).find((piece) => !has(piece));
  const { error, result = {} } = answer;
  if (error) return lacksText(error.message) === undefined ? [] : [`the error ${error.message}`];
  const missing = [];
  for (const block of result.content ?? []) {
    const { type, text, data, mimeType, uri, resource } = block;
    const piece = lacksText(text ?? resource?.text ?? uri ?? resource?.uri ?? "");
    if (piece !== undefined) missing.push(`${type}: ${piece}`);
    if (data !== undefined && ![data, mimeType].some((one) => shown.includes(one)) && !has(decoded(data)))
      missing.push(`${type}: ${mimeType}`);
  }
  // The blocks are looked at above: an SVG picture is shown as its text, without its type.
  const media = (result.content ?? []).flatMap(({ data, mimeType }) => [data, mimeType]);
  const values = JSON.stringify(result).length > head ? [] : valuesOf(result.structuredContent ?? {});
  const lost = values.filter((value) => !media.includes(value) && lacksText(value) !== undefined);
  return [...missing, ...lost.map((value) => `structuredContent: ${value}`)];
}

/** An SVG picture is shown as its text. */
const decoded = (data) => Buffer.from(data, "base64").toString("utf8");

/** Without what printing may change: control characters, blanks, the ends of lines. */
function flat(text) {
  return text.replace(/\p{C}|\s/gu, "");
}
