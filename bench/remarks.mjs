// Why a row is missed, and what was tried, in at most 60 words: printed below the table for the rows that are.

const remarks = [
  [
    /^search_text, .*(new tree|first search)/,
    "Of 100 ms on the small tree the import takes 21, the registry 6, the kernel 20; the rest is code that runs once. A plain loop takes 13. On the medium one V8's compilers take a quarter of both processors, the kernel 120 of 290 ms. Without gain: lines tried one by one, larger young generations, readFileSync, larger batches.",
  ],
  [
    /^search_text, .*same tree/,
    "Half of the time is one lstat a file (2.4 µs, 2.1 in the kernel), without which a change could be missed: a plain loop takes 118 ms on the medium tree, ripgrep in all 128. A tenth is one stat a folder. Without gain: bigint Stats. Not possible: records by inode, relative paths, inotify (hard links).",
  ],
  [
    /^search_text, .*longest block/,
    "It is the first of the fifty searches, in which the engine is read, compiled and run for the first time (15 to 30 ms); the others take 9 at most.",
  ],
  [
    /^search_text, .*memory after/,
    "Of 140 MB on the Linux tree 20 are what is remembered, 45 the heaps of three threads, 20 held by malloc for V8's compiler. Without gain: a smaller young generation for the threads.",
  ],
  [
    /^search_files/,
    "The first three searches are slower than ripgrep (cold, while a thread starts, the first in it); the others take 0.2 to 0.4 of its time.",
  ],
  [/gemini-cli-core fallback/, "The peer's own cost is low on a small tree; on the medium one the goal is met."],
  [
    /^toolcrib run, start to its first request, to .*(?<!memory)$/,
    "A third of all samples are in Node's loader, which finds, reads and links some 80 files; a tenth each are Node's fetch and the collector. Node's start takes 23 ms, codex, a Rust program behind a script of Node's, about as long as ours. Without gain: short names in the SDK, V8's flags.",
  ],
  [
    /^toolcrib run, start to its first request, to .*memory$/,
    "Of 86 MB a plain program that asks by Node's fetch has 61, in 104 ms; the SDK has 5, our code and its heap 12, V8's compilers, which Node's own module loader keeps busy, the rest. A larger young generation makes it more, short names in the SDK 0.2 less.",
  ],
  [
    /^write_file 4 KB, to open/,
    "The file system takes 1.8 of plain: temporary file, write, fsync, rename, fsync of the directory (without it a power cut could undo a reported write). Thirteen short calls (links followed by hand, special files, hard links, owner, mode) take 10 µs each; the rest is fsync off the event loop.",
  ],
  [/^write_file 4 KB, to write-file-atomic/, "The peer does not sync the directory, which is most of our time."],
  [
    /^agent loop, 1,000 steps, to pi-agent-core/,
    "Two runs on one day gave 0.95 and 1.08. No function takes more than 7 % of a step, collecting memory a ninth. Plain await costs more than generators did, and reads better.",
  ],
  [
    /^agent, 50 steps over HTTP/,
    "A signal and its listener for each request, the watchdog of a silent stream, counting its bytes, two more turns a piece: a few µs each. Without gain: one promise in place of a race, rarer signs of life, one generator fewer.",
  ],
  [
    /^run_bash, start/,
    "Six tenths are spawn itself, a third the command and its exit, as for execFile. Ours are 6 %: a copy of the environment (19 µs), the last process id (7), timers, two counted streams.",
  ],
  [
    /^the first tool call of a process/,
    "Finding and linking 59 files takes a third of the time, 0.3 to 0.5 ms a file. Not done: all packages in one file (0.80; a fix in a package would not reach the command). Without gain: the command's own code in three files (1.02 of the instructions).",
  ],
  [
    /^web_fetch .*pages 11/,
    "Of 36 ms of processor time parsing takes 11 and fetching by hand 5 to 8; finding what is shown 2, writing Markdown 6, Node's request and the cache 4, V8's compiler and collector the rest. It was 61: a second tree of what is shown, and texts joined only once they were read, cost most.",
  ],
  [
    /^catalogue of 100 skills/,
    "Of each skill half is its YAML, as for the plain program, a fifth the file: two looks before it is opened (a device must not be), one after, which readFile does without; the rest collects memory and checks its text and fields.",
  ],
];

/** A line for each missed row that has a remark, each remark once. */
export function remarksOf(rows) {
  const missed = rows.filter(({ verdict }) => verdict === "missed");
  return remarks.flatMap(([pattern, text]) => {
    const names = missed.map(({ name }) => name).filter((name) => pattern.test(name));
    return names.length > 0 ? [`- ${names.join("; ")}: ${text}`] : [];
  });
}
