// Why a row is missed, and what was tried: printed below the table for the rows that are.

const remarks = [
  [
    /^search_text, .*(new tree|first search)/,
    "About 7 µs a file are system calls (open, read, close) and their way through Node; ripgrep pays 3. Both use two threads, so a busy machine hits us harder. Tried without gain: one read less a file, larger batches, a lighter memory of files during the first search.",
  ],
  [
    /^search_text, .*same tree/,
    "What is left is one stat for each file, 2 to 3 µs through Node, and the walk. Without it a change could be missed.",
  ],
  [
    /gemini-cli-core fallback/,
    "On a tree this small the peer's own cost is low too; on the medium one the goal is met.",
  ],
  [
    /^write_file 4 KB, to open/,
    "By hand, on the same disk: file fsync and rename alone 1.33, with the fsync of the directory 1.94 (a second journal commit), both off the event loop 2.1 to 2.4. So 2.0 would cost either the directory's fsync, which a crash-safe rename needs, or a blocked event loop. The path guard, mode, owner and lock are the rest.",
  ],
  [/^write_file 4 KB, to write-file-atomic/, "The peer does not sync the directory, which is most of our time."],
  [
    /^agent loop, in process, with validation/,
    "The best rounds are below 10 µs; the median moves with the machine's load. What is left is one timer, one abort listener, the copies that keep history and arguments apart, and two generators a step.",
  ],
  [
    /^agent, 50 steps over HTTP/,
    "The watchdog of a silent stream, the check of the content type and the reading of the stream to its end, so that its connection serves the next request.",
  ],
  [
    /^run_bash, start/,
    "A mark for every process of the call, the group and two counted streams; the median moves around the goal.",
  ],
  [/^import of/, "The median moves with the machine's load; the least of several runs is below the goal."],
];

/** A line for each missed row that has a remark, each remark once. */
export function remarksOf(rows) {
  const missed = rows.filter(({ verdict }) => verdict === "missed");
  return remarks.flatMap(([pattern, text]) => {
    const names = missed.map(({ name }) => name).filter((name) => pattern.test(name));
    return names.length > 0 ? [`- ${names.join("; ")}: ${text}`] : [];
  });
}
