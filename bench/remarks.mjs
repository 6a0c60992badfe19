// Why a row is missed, and what was tried: printed below the table for the rows that are.

const remarks = [
  [
    /^search_text, .*(new tree|first search)/,
    "About 7 µs a file are system calls (open, read, close) and their way through Node; ripgrep pays 3. Tried without gain: decoding a file once instead of searching its bytes, one read less a file, larger batches, calling the second thread earlier or never.",
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
    "strace of both, ext4. Plain (medians of 20): open with truncation 188 µs, write 63, fsync 293, close 56. Ours (one write): creating the temporary file 82, write 20, fsync 388, close 56, rename 187, fsync of the directory 247 (without it a power cut could undo a write that was reported); the other thirteen calls take 10 µs each: five readlink and a stat (links of the path are followed by hand, inside the root), open and close of the directory that the rename is bound to, two stats and an access of the target (special files, hard links, read-only files, changes meanwhile), stat and fchmod of the new file (owner and mode kept). So the file system alone takes 1.8 of plain. The rest are the two fsyncs in another thread, so that the event loop is not blocked. By hand: file fsync and rename alone 1.33, with the fsync of the directory 1.94, both off the event loop 2.1 to 2.4. A durability option that leaves the directory out would save a quarter and is not offered: the old or the new content is promised in any case, and half a promise more is one more thing to choose.",
  ],
  [/^write_file 4 KB, to write-file-atomic/, "The peer does not sync the directory, which is most of our time."],
  [
    /^agent loop, 1,000 steps, to pi-agent-core/,
    "A step is 5 µs on an idle processor: 1.3 the registry, 0.35 the model of the benchmark, the rest the request, the checks of its events and the frozen copies. Taken out: nested async generators, waiting for the end of a request before its calls run, timer and abort listener of calls that wait for nothing, repair of arguments that fit, async functions around a call.",
  ],
  [
    /^agent, 50 steps over HTTP/,
    "The watchdog of a silent stream, the check of the content type and the reading of the stream to its end, so that its connection serves the next request.",
  ],
  [
    /^run_bash, start/,
    "A mark for every process of the call, the group and two counted streams; the median moves around the goal.",
  ],
  [
    /^the first tool call of a process/,
    "Of 66 files that are read, the libraries for flags and shell syntax are 24, which only bundling would join; the compiled code of all is kept between starts.",
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
