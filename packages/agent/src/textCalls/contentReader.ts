import type { ToolCallBlock } from "../messages.ts";
import { endCalls, type OfferedTools } from "./endCalls.ts";
import { findMarker, MarkdownPlace, type ThinkTags } from "./markers.ts";

/** A piece of a reply. `retract`: all text so far was thinking. */
export type ContentPart =
  | { readonly type: "text" | "thinking"; readonly text: string }
  | { readonly type: "retract"; readonly text?: undefined };

/** Splits a reply in which a model writes thinking and calls as text, as it comes. What may begin a call is held back and never shown. */
export class ContentReader {
  readonly #tools: OfferedTools;
  readonly #place = new MarkdownPlace();
  /** The part that is not yet shown: the beginning of a marker, or all from that of a call on. */
  #rest = "";
  #isHeld = false;
  #tags: ThinkTags | undefined;
  /** The tags around the last thinking. */
  thinkTags: ThinkTags | undefined;
  /** White space at the end of what came, which is shown once something follows it. */
  #space = "";
  /** True at the beginning of thinking, and of the text behind it. */
  #isFirst = false;
  #thoughts = 0;
  #parts: ContentPart[] = [];

  constructor(tools: OfferedTools) {
    this.#tools = tools;
  }

  push(piece: string): readonly ContentPart[] {
    this.#rest += piece;
    while (!this.#isHeld && (this.#tags ? this.#think(this.#tags) : this.#read()));
    return this.#parts.splice(0);
  }

  /** Ends the reply. `mayCall`: a call at the end of it is read. What is no call comes as the text that it was. */
  end(mayCall: boolean): { readonly parts: readonly ContentPart[]; readonly calls: readonly ToolCallBlock[] } {
    const found = this.#isHeld && mayCall ? endCalls(this.#rest, this.#tools, this.#place) : undefined;
    const calls = found && "calls" in found ? found : { at: this.#rest.length, calls: [] };
    this.#add(this.#tags ? "thinking" : "text", this.#rest.slice(0, calls.at));
    if (calls.calls.length === 0 && !this.#tags && this.#space !== "" && !this.#isFirst)
      this.#parts.push({ type: "text", text: this.#space });
    this.#rest = this.#space = "";
    return { parts: this.#parts.splice(0), calls: calls.calls };
  }

  /** Reads text up to a marker. Returns whether more can be read. */
  #read(): boolean {
    const found = findMarker(this.#rest, 0, 0, this.#place, this.#tools);
    const index = found?.index ?? this.#rest.length;
    this.#add("text", this.#rest.slice(0, index));
    this.#rest = this.#rest.slice(index);
    if (!found || found.marker === "part") return false;
    const { marker } = found;
    if ("format" in marker) {
      this.#isHeld = true;
      return false;
    }
    this.#space = "";
    this.#isFirst = true;
    const { tags, isEnd } = marker;
    if (isEnd) this.#parts.push({ type: "retract" });
    else this.#tags = tags;
    this.thinkTags = tags;
    this.#rest = this.#rest.slice(tags[isEnd ? 1 : 0].length);
    return true;
  }

  #think([, close]: ThinkTags): boolean {
    const end = this.#rest.indexOf(close);
    const length = end < 0 ? this.#rest.length - overlap(this.#rest, close) : end;
    this.#add("thinking", this.#rest.slice(0, length));
    this.#rest = this.#rest.slice(end < 0 ? length : end + close.length);
    if (end < 0) return false;
    if (!this.#isFirst) this.#thoughts += 1;
    this.#tags = undefined;
    this.#space = "";
    this.#isFirst = true;
    return true;
  }

  #add(type: "text" | "thinking", piece: string): void {
    const text = this.#isFirst ? piece.trimStart() : piece;
    const body = text.trimEnd();
    if (body !== "") {
      const seam = this.#isFirst && type === "thinking" && this.#thoughts > 0 ? "\n\n" : "";
      this.#parts.push({ type, text: seam + this.#space + body });
      this.#isFirst = false;
      this.#space = "";
    }
    this.#space += text.slice(body.length);
  }
}

/** Returns how much of the end of a text may be the beginning of a token. */
function overlap(text: string, token: string): number {
  for (let length = Math.min(text.length, token.length - 1); length > 0; length -= 1)
    if (text.endsWith(token.slice(0, length))) return length;
  return 0;
}
