import { MarkedError } from "@toolcrib/core/internal";
import { clip, printableName, withoutControls } from "@toolcrib/core/text";

/** A remote that cannot be used, or that ended during a call. */
export class RemoteError extends MarkedError {
  declare readonly name: "RemoteError";
  /** The name of the remote. */
  readonly remote: string;

  constructor(remote: string, problem: string, cause?: unknown) {
    super("RemoteError", withoutControls(`The remote ${printableName(clip(remote, 128))} ${problem}`), cause);
    this.remote = remote;
  }
}
