import { linesOf, missingTool, noticeOf, type OfflineStep, type Progress } from "./step.ts";

/**
 * The step before a file is written without leave to overwrite it: a listing of its folder, or a refusal. Undefined once
 * it is certain that there is no such file.
 */
export function beforeWriting(path: string, progress: Progress): OfflineStep | undefined {
  if (!progress.isEnabled("list_dir")) return refuse(`I cannot see whether ${path} exists: ${missingTool("list_dir")}`);
  let { folder, name } = split(path);
  let isParent = true;
  for (;;) {
    const listed = listingOf(folder, progress);
    if (!listed) return { calls: [{ name: "list_dir", args: { path: folder } }] };
    if (!listed.isError) {
      const isThere = linesOf(listed.output).some((line) => names(line, name));
      if (isThere && isParent) return refuse(`${path} exists, and I replace a file only when told to`);
      const isCertain = !isThere && noticeOf(listed.output) === undefined;
      return isCertain ? undefined : refuse(`I cannot see whether ${path} exists`);
    }
    // The folder may be missing; then the one above it does not list it.
    const above = split(folder);
    if (above.folder === folder || above.name === "" || above.name === "..")
      return refuse(`I cannot see whether ${path} exists: ${listed.output}`);
    ({ folder, name } = above);
    isParent = false;
  }
}

function refuse(why: string): OfflineStep {
  return { text: `${why}. To replace it, end the request with ", overwriting it".`, failed: true };
}

function split(path: string): { folder: string; name: string } {
  const end = path.replace(/(?<=.)\/+$/, "");
  const cut = end.lastIndexOf("/");
  if (cut < 0) return { folder: ".", name: end === "." ? "" : end };
  return { folder: end.slice(0, cut) || "/", name: end.slice(cut + 1) };
}

/** Whether a line of a listing is this name. Case is ignored, as some file systems ignore it. */
function names(line: string, name: string): boolean {
  const fold = (text: string): string => text.normalize("NFC").toLowerCase();
  const shown = fold(line.replace(/\/$/, ""));
  return shown === fold(name) || shown === fold(JSON.stringify(name)) || shown.startsWith(`${fold(name)} -> `);
}

function listingOf(folder: string, { replies, results }: Progress): Progress["results"][number] | undefined {
  const calls = replies.flatMap(({ content }) => content.filter((block) => block.type === "tool-call"));
  const ids = calls.filter(({ name, args }) => name === "list_dir" && args.path === folder).map(({ id }) => id);
  return results.find(({ callId }) => ids.includes(callId));
}
