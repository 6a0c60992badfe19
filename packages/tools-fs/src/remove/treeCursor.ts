import { fstatSync, type Stats } from "node:fs";
import { ToolError } from "@toolcrib/core";
import { OpenDirectory } from "@toolcrib/kit/files";

/** A position in a directory tree of any depth, with one directory open at a time. Links are never entered. */
export interface TreeCursor {
  readonly directory: OpenDirectory;
  /** Goes down into a directory and returns its stats; throws the system's error for anything else, links included. */
  enter(name: string | Uint8Array): Stats;
  /** Goes back up; throws if the directory was moved meanwhile, so that the walk never continues in another tree. */
  leave(): void;
  close(): void;
}

/** Closes `top` itself. */
export function createTreeCursor(top: OpenDirectory): TreeCursor {
  let directory = top;
  const above: Stats[] = [];
  const go = (next: OpenDirectory): void => {
    directory.close();
    directory = next;
  };
  return {
    get directory() {
      return directory;
    },
    enter(name) {
      const next = new OpenDirectory(directory.at(name));
      above.push(fstatSync(directory.descriptor));
      go(next);
      return fstatSync(directory.descriptor);
    },
    leave() {
      const expected = above.pop();
      const parent = directory.openParent();
      const found = fstatSync(parent.descriptor);
      go(parent);
      if (found.dev !== expected?.dev || found.ino !== expected.ino) {
        throw new ToolError({ code: "execution_failed", message: "A directory was moved meanwhile; try again" });
      }
    },
    close: () => directory.close(),
  };
}
