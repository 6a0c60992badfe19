import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pairFresh, startChild } from "../pairs.mjs";

const runs = 5;

/** Ten times as much of something, to a tenth of it, each in a new process: 10 is a line, more grows faster than what it holds. */
export async function growth(report) {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-growth-"));
  try {
    for (const [name, what, size] of [
      ["2,000 tools registered, 200 of them found by search", "tools", 2000],
      ["a journal of 100,000 lines opened and continued", "journal", 100_000],
      ["20,000 files listed", "files", 20_000],
    ]) {
      const [large, small] = [size, size / 10].map((count) => prepare(what, count, join(folder, `${what}-${count}`)));
      const start = (args) => startChild("growth.mjs", { args });
      const tenth = { ask: (message) => once(() => start(small), message) };
      report({
        name: `${name}, to a tenth of it`,
        goal: 12,
        ...(await pairFresh(() => start(large), tenth, { rounds: runs })),
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function once(start, message) {
  const child = start();
  try {
    await child.ask({ ping: true });
    return await child.ask(message);
  } finally {
    child.end();
  }
}

/** Makes what a process is to work on, and returns the words that start it. */
function prepare(what, count, path) {
  if (what === "files") {
    for (let folder = 0; folder < count / 100; folder += 1) {
      mkdirSync(join(path, `folder-${folder}`), { recursive: true });
      for (let file = 0; file < 100; file += 1) writeFileSync(join(path, `folder-${folder}`, `file-${file}.txt`), "");
    }
  }
  if (what === "journal") writeFileSync(path, `${journalLines(count).join("\n")}\n`);
  return [what, count, path];
}

function journalLines(count) {
  const at = "2026-11-29T00:00:00.000Z";
  const line = (role, text) => ({ type: "message", message: { role, content: [{ type: "text", text }] }, at });
  const head = { type: "session", format: "toolcrib-session", version: 1, savedAt: at, systemPrompt: "" };
  const lines = Array.from({ length: count - 1 }, (_, index) =>
    line(index % 2 === 0 ? "user" : "assistant", `line ${index} of a long conversation`),
  );
  return [head, ...lines].map((value) => JSON.stringify(value));
}
