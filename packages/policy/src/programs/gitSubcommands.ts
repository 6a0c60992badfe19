import type { Beyond, Covering, ProgramRecord, Reading } from "./record.ts";

/** Not the address of a helper program, as in `ext::sh -c …`. */
const word = /^(?![A-Za-z0-9+.-]+::)/;

/** Makes the record of a subcommand that only reads. Its operands are revisions, paths in the repository, and words of its own. */
export const reading = (options: string, more: Reading = {}, covers?: Covering): ProgramRecord => ({
  reads: { options, operands: "data", ...more },
  ...(covers && { covers: { word, ...covers } }),
});
/** Makes the record of one that changes the repository or the working tree, and starts nothing but what the user's configuration says. */
export const changing = (options: string, more: Covering = {}): ProgramRecord => ({
  covers: { options, word, ...more },
});

/** Makes the record of one that changes the working tree to what a commit holds, links too. */
export const placing = (options: string, more: Covering = {}): ProgramRecord => ({
  ...changing(options, more),
  beyond: { does: "bring" },
});

/** Makes the record of one that writes files which its words rarely name. */
export const restoring = (options: string, more: Partial<Beyond> = {}): ProgramRecord => ({
  ...changing(options),
  beyond: [{ does: "bring" }, { does: "write delete", ...more }],
});

/** Makes the record of a stash, which takes untracked files, too, and can put them back. */
export const stashing = (options: string): ProgramRecord => ({
  ...placing(`-k --keep-index --no-keep-index -u --include-untracked -a --all -q --quiet -S --staged ${options}`),
  beyond: [
    { does: "bring write delete" },
    { does: "read", only: "-u --include-untracked -a --all --pathspec-from-file" },
  ],
});
