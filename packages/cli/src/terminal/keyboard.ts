/** The keys of a terminal: what is typed goes only to the most recent taker. */
export interface Keyboard {
  /** Takes the keys: `onKeys` gets what is typed, and undefined at the end of input, until the returned function is called. */
  take(onKeys: (keys: string | undefined) => void): () => void;
  setRawMode(raw: boolean): void;
  close(): void;
}

/** Reads standard input key by key until it is closed: nothing typed is lost or read twice. */
export function openKeyboard(stdin: NodeJS.ReadStream): Keyboard {
  const takers: ((keys: string | undefined) => void)[] = [];
  let ended = false;
  const onData = (keys: string): void => takers.at(-1)?.(keys);
  const onEnd = (): void => {
    ended = true;
    for (const taker of takers.toReversed()) taker(undefined);
  };
  const ends = ["end", "close", "error"] as const;
  stdin.setEncoding("utf8").setRawMode(true);
  stdin.on("data", onData);
  for (const event of ends) stdin.on(event, onEnd);
  stdin.resume();
  return {
    take(onKeys) {
      takers.push(onKeys);
      if (ended) onKeys(undefined);
      return () => {
        const index = takers.lastIndexOf(onKeys);
        if (index >= 0) takers.splice(index, 1);
      };
    },
    setRawMode: (raw) => void stdin.setRawMode(raw),
    close() {
      stdin.off("data", onData);
      for (const event of ends) stdin.off(event, onEnd);
      if (!ended) stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
