import { createInterface } from "node:readline";
import type { Host } from "../host.ts";
import { type ChatInput, type ChatInputOptions, LineQueue } from "./chatLines.ts";
import { openKeyboard } from "./keyboard.ts";
import { isPlain } from "./style.ts";

/** Reads standard input from now on: what is typed while the rest starts is kept. */
export async function openChatInput(options: ChatInputOptions): Promise<ChatInput> {
  const { host, env } = options.program;
  const { stdin, stdout, stderr } = host;
  if (!stdin.isTTY || !stderr.isTTY) return pipedInput(stdin);
  if (isPlain(env) || !stdout.isTTY) return plainInput(host);
  const keyboard = openKeyboard(stdin);
  const early: (string | undefined)[] = [];
  const release = keyboard.take((keys) => void early.push(keys));
  const [{ Screen }, before] = await Promise.all([import("./screen/screen.ts"), options.history.read()]);
  release();
  return new Screen(keyboard, { early, before }, options);
}

function pipedInput(stdin: NodeJS.ReadStream): ChatInput {
  const queue = new LineQueue();
  const lines = createInterface({ input: stdin, terminal: false });
  lines.on("line", (line) => queue.push(line));
  lines.on("close", () => queue.end());
  // Standard input that cannot be read (a directory, say) has no lines.
  stdin.on("error", () => queue.end());
  return {
    next: () => queue.next(),
    keyboard: undefined,
    screen: undefined,
    get typed() {
      return queue.pushed;
    },
    clear: () => {},
    close: () => lines.close(),
  };
}

/** Reads whole lines of a terminal that edits and shows them itself, key by key only for a question. */
function plainInput({ stdin, stderr }: Host): ChatInput {
  const queue = new LineQueue();
  const keyboard = openKeyboard(stdin);
  keyboard.setRawMode(false);
  let typed = "";
  keyboard.take((text) => {
    if (text === undefined) return queue.end();
    const lines = (typed + text).split("\n");
    typed = lines.pop() ?? "";
    for (const line of lines) queue.push(line);
  });
  return {
    next() {
      if (queue.isEmpty) stderr.write("> ");
      return queue.next();
    },
    keyboard: {
      ...keyboard,
      take(onKeys) {
        // Half-typed text is read now, and is no answer.
        keyboard.setRawMode(true);
        const release = keyboard.take(onKeys);
        return () => {
          release();
          keyboard.setRawMode(false);
        };
      },
    },
    screen: undefined,
    get typed() {
      return queue.pushed;
    },
    // The terminal has dropped the line itself.
    clear: (hint) => void stderr.write(`\n${hint}\n> `),
    close: () => keyboard.close(),
  };
}
