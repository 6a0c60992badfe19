/** Called by a channel to a remote. */
export interface ChannelEvents {
  data(chunk: Uint8Array): void;
  errorText(text: string): void;
  /** Called once, when nothing more will come; `how` in words, such as ` (exit code 1)`. */
  end(how: string): void;
}

/** Standard input and output of the program that runs in a remote. */
export interface Channel {
  send(text: string): void;
  /** Ends the program there: its input first. */
  close(): Promise<void>;
}

/** Milliseconds that the program may take to end by itself when its input is closed. */
export const inputGraceMs = 2000;
