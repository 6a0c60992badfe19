/** A request that is refused: `message` says why, and is sent as text with this status. */
export class PageError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "PageError";
    this.status = status;
  }
}
