/** No thread can be started here. */
export class NoThreadsError extends Error {
  constructor(cause: unknown) {
    super(`no thread can be started: ${whyNot(cause)}`, { cause });
    this.name = "NoThreadsError";
  }
}

/** Why a thread did not start, and what would change that. */
function whyNot(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (code === "ERR_ACCESS_DENIED") return "Node's permission model forbids it; start node with --allow-worker";
  if (typeof code === "string" && missingFile.has(code)) {
    return "searchWorker.mjs of @toolcrib/tools-search is not beside the bundled program; copy it there, or leave the package out of the bundle";
  }
  return typeof message === "string" ? message : String(cause);
}

const missingFile: ReadonlySet<string> = new Set([
  "ERR_WORKER_PATH",
  "ERR_INVALID_URL",
  "ERR_INVALID_ARG_TYPE",
  "ERR_MODULE_NOT_FOUND",
  "MODULE_NOT_FOUND",
  "ENOENT",
]);
