/** By shape: an error of another realm is not an instance of this realm's Error. */
export function messageOf(error: unknown): string {
  const isError = typeof error === "object" && error !== null && "message" in error;
  return isError ? String(error.message) : String(error);
}
