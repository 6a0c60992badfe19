import { Readable, type Writable } from "node:stream";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";

/** Carries messages of the protocol over two streams, a line of JSON each. */
export function stdioStream(input: Readable, output: Writable): Stream {
  const decoder = new TextDecoder();
  const sink = new WritableStream<Uint8Array>({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        output.write(withoutLoneSurrogates(decoder.decode(bytes)), (error) => (error ? reject(error) : resolve()));
      }),
  });
  return ndJsonStream(sink, Readable.toWeb(input) as ReadableStream<Uint8Array>);
}

/** Half a character, which tools and models may send, is an error to many JSON readers; `JSON.stringify` writes it as a code. */
function withoutLoneSurrogates(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (code) => (code.length === 6 ? "\\ufffd" : code));
}
