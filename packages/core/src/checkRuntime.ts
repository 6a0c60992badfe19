/** Throws an Error that names the version needed, on a Node.js without what the packages use. */
export function checkRuntime(): void {
  if ("withResolvers" in Promise) return;
  throw new Error(`Node.js 22.18 or later is needed; this is ${process.version}`);
}
