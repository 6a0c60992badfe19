import { type BytePath, toText } from "./bytePath.ts";
import type { FoundProtected } from "./protectedPaths.ts";

/** One command that is watched. */
export interface WatchedCommand {
  /** Resolves to the protected paths that were made, changed or removed since it started. Rejects with an Error in plain words. */
  findChanges(): Promise<readonly string[]>;
  /** Ends the watch. Call it when the command has ended. */
  end(): void;
}

/**
 * Watches what commands make of protected paths. Call it with what was found right before a command. If that one ends without an answer,
 * as by an abort, the next command answers for it.
 */
export function createProtectedWatch(find: () => Promise<FoundProtected>): (before: FoundProtected) => WatchedCommand {
  let running = 0;
  /** The paths that were there when all before was answered for. */
  let unanswered: FoundProtected | undefined;
  return (before) => {
    const start = unanswered ?? before;
    let after: FoundProtected | undefined;
    unanswered = start;
    running += 1;
    return {
      async findChanges() {
        after = await find();
        const { states } = after;
        const paths = new Set([...start.states.keys(), ...states.keys()]);
        return [...paths]
          .filter((path) => start.states.get(path) !== states.get(path))
          .sort((a, b) => Number(isOfGit(b)) - Number(isOfGit(a)) || (a < b ? -1 : 1))
          .map(toText);
      },
      end() {
        running -= 1;
        if (after) unanswered = running > 0 ? after : undefined;
      },
    };
  };
}

/** Returns whether git runs a path: of many only the first are named, and those come before what waits for an editor or a shell. */
function isOfGit(path: BytePath): boolean {
  return /\/(?:\.git(?:\/.*)?|hooks|config|commondir|gitdir|alternates)$/i.test(path);
}
