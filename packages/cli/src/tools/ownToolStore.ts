import { messageOf } from "@toolcrib/core/text";
import { fileToolStore, type McpToolStore } from "@toolcrib/mcp";
import type { Program } from "../program.ts";
import { makeStateFolder, stateName } from "../state/stateFolder.ts";

/** Opens the store of accepted tools of a directory's servers; undefined, with a note, if nothing can be kept. */
export function ownToolStore(
  directory: string,
  { folders, terminal }: Pick<Program, "folders" | "terminal">,
): McpToolStore | undefined {
  try {
    return fileToolStore(`${makeStateFolder(folders, "mcp")}/${stateName(directory)}.json`);
  } catch (error) {
    terminal.aside(`The tools of the servers cannot be saved: ${messageOf(error)}`);
    return undefined;
  }
}
