import { clip, printableName, withoutControls } from "@toolcrib/core/text";

/** A remote that cannot be used, or that ended during a call. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** The name of the remote. */
  readonly remote: string;

  constructor(remote: string, problem: string, cause?: unknown) {
    const message = `The remote ${printableName(clip(remote, 128))} ${problem}`;
    super(withoutControls(message), cause === undefined ? undefined : { cause });
    this.remote = remote;
  }
}
