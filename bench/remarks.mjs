// Why a row is missed, and what was tried: printed below the table for the rows that are.

const remarks = [
  [
    /^search_text, .*(new tree|first search)/,
    "The goals are for four processors; where there are two, one thread starts beside the caller's. About 6 µs a file are system calls (open, two reads, close: 5 of them in the kernel) and their way through Node; ripgrep pays 3. A search with all code compiled and all folders listed takes 380 ms of processor time on the Linux tree, as ripgrep does; in a new tree compiling (a fifth of the samples, in threads of V8 beside those that search), collecting memory (a twelfth), reading folders and their rules bring that to 700. Taken out: an object for each entry of a folder, a joined path for each name and rule, globs that the first or last character of a name tells apart (0.87 of before), three of five files that a first search loads (0.91 and 0.95). Not done: the read that finds the end of a file (1 µs) could go only where a short read means the end, which a file of /proc mounted on another would break. Tried without gain: decoding a file once instead of searching its bytes, fs.readFileSync (8.3 µs as utf8, 7.4 as a Buffer), fstat instead of the last read, larger batches, calling the second thread earlier or never, ignore rules as plain loops with one expression before all globs, paths through an open folder (/proc/self/fd/N: twice the time of lstat).",
  ],
  [
    /^search_text, .*same tree/,
    "The goals are for four processors; where there are two, a search has two takers, and the rows of 1, 2 and 4 takers show the curve beside rg -j. Of 180 ms of processor time on the Linux tree, shared by two threads, 90 are one lstat for each file (2.4 µs, 2.1 of them in the kernel, most of that along the path) and 10 one stat for each folder; without them a change could be missed. The rest are files that may match, batches handed over, and the walk. The first rounds of the row run before all files are learned, and ripgrep beside the learning. A small tree takes some 7 ms on the caller's thread, of which lstat is 2.5; most of the rest is code that is not compiled yet, and memory collected. Tried without gain: Stats with bigints, a path's folder hashed once for all its files. Slower by a fifth where files are read: no texts kept. Not possible: records found by inode alone (a folder swapped for a link would show a denied file's text), relative paths (0.4 µs less, but a thread has no folder of its own), inotify alone (a write through another hard link would be missed).",
  ],
  [
    /^search_text, .*memory after/,
    "Of some 110 MB on the Linux tree (90 with nothing remembered) 20 are what is remembered, 45 the heaps of three threads, 20 held by malloc for V8's compiler. Tried without gain: a smaller young generation for the threads.",
  ],
  [
    /^search_text, .*longest block/,
    "On 22 November it was 10 ms on a machine that scanned the same bytes in half of the time.",
  ],
  [
    /^search_files/,
    "The first three searches are slower than ripgrep (cold, then while a thread starts, then the first one in it), the others take 0.2 to 0.4 of its time.",
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
    "Two runs on the same day gave 0.95 and 1.08. The loop is written with plain await, which costs more than the generators before it and is far easier to read. No function takes more than 7 % of a step; garbage collection takes a ninth.",
  ],
  [
    /^agent, 50 steps over HTTP/,
    "1.18 in processor time on a quiet machine (1.3 before the end of a stream was read instead of cancelled), 1.2 to 1.3 on a busy one, and 192 KB of garbage a step instead of 150. Left, in parts of a few µs: a signal and its listener for each request, which the SDK joins with its own (a twentieth of the difference), the watchdog of a silent stream, counting its bytes, two more turns a piece. Tried without gain: one promise in place of the race between a chunk and a sign of bytes, a sign of life at most each 20 ms, and no generator inside another for redacted events, together 8 KB less and 1.00 of the time (220 alternating runs).",
  ],
  [
    /^run_bash, start/,
    "Of the time six tenths are spawn itself and a third the command and its exit, as for execFile (neither the group nor an environment of its own makes spawn slower). What is ours beside them is 6 %: a copy of the environment (19 µs), the last process id, which tells whether any could be left (7), timers and two counted streams. A timer that woke the process 100 ms after each call is gone: 54 system calls instead of 58 and 1.7 polls instead of 4.5, within the noise of the time (0.97). Not worth it: keeping /proc/loadavg open (5 µs). The median moves around the goal.",
  ],
  [
    /^the first tool call of a process/,
    "Finding and linking takes a third of the time, 0.3 to 0.5 ms a file. Without the agent and the files of MCP, and with plain names of path patterns no longer compiled as globs, 63 files are read instead of 72, and the call takes 0.92 to 0.94 of the processor time and 0.94 to 0.95 of the time (medians of twice 41 alternating pairs). Shell syntax and the tables of programs are loaded with the first command alone. Measured and not done: all packages bundled into the command as one file for this path (0.80 of what it was; two threads and the host of a container are files of their own packages, and a fix in a package would no longer reach the command), one shared file in each package (0.85 to 0.91 of what it is now; whoever imports core would load its file tools too), small shared files joined where all that use them load the same other one (0.95 of what it is now; a second bundler behind the first, for all packages). Without gain: esbuild with splitting over all packages (63 files, as much as loading no agent), commander within the command, with or without its import of node:process.",
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
