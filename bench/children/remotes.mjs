// search_text on a remote that is 20 ms away: run there, or here over a file system that asks for file by file.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ToolRegistry } from "@toolcrib/core";
import { connectTools } from "@toolcrib/remote";
import { answer } from "../pairs.mjs";

const [how, root, query] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "toolcrib-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const count = join(folder, "trips");
const delay = fileURLToPath(new URL("./delay.mjs", import.meta.url));
/** As a program would: not all at once, nor one after the other. */
const atOnce = 32;

const remote = await connectTools(
  { command: process.execPath, args: [delay, "20", count, "env"], node: process.execPath },
  { root, cwd: root },
);
const registry = new ToolRegistry();
registry.register(...remote.tools);
// As a policy does: the effects of the call are asked for first.
registry.guard(({ effects }) => effects !== undefined);

const ways = {
  there: async () => {
    const { ok, data } = await registry.invoke("search_text", { query, paths: ["."] });
    if (!ok) throw new Error("the search failed");
    return data.matches.length;
  },
  "file by file": async () => {
    const names = (await registry.invoke("search_files", { pattern: "**", max_results: 1_000_000 })).data.files;
    const read = remote.tools.find(({ name }) => name === "read_file");
    let found = 0;
    const worker = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop())
        found += String(await read.execute({ path: name }).catch(() => "")).split(query).length - 1;
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return found;
  },
};

answer(async () => {
  const before = Number(readFileSync(count, "utf8"));
  return { count: await ways[how](), trips: Number(readFileSync(count, "utf8")) - before };
});
process.on("disconnect", () => void remote.close().then(() => process.exit()));
