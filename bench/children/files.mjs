// read_file and write_file beside the plain calls of Node; which one is the first argument.
import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { ToolRegistry } from "@toolcrib/core";
import { createFsTools } from "@toolcrib/tools-fs";
import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const [what, cwd] = process.argv.slice(2);
const registry = new ToolRegistry();
for (const tool of createFsTools({ cwd })) registry.register(tool);
const content = "x".repeat(4096);
const writes = 200;

async function call(name, args) {
  const output = await registry.execute(name, args);
  if (output.startsWith("Error")) throw new Error(output);
  return output;
}

const cases = {
  readTool: async ({ path, offset, limit }) => (await call("read_file", { path, offset, limit })).split("\n").length,
  readline: async ({ path, offset, limit }) => {
    let line = 0;
    let kept = 0;
    const input = createReadStream(`${cwd}/${path}`);
    for await (const _ of createInterface({ input })) {
      line += 1;
      if (line >= offset && kept < limit) kept += 1;
      if (kept === limit) break;
    }
    input.destroy();
    return kept;
  },
  pictureTool: async () => {
    const { content } = await registry.invoke("read_file", { path: "photo.jpg" });
    return Buffer.from(content[0].data, "base64").length;
  },
  pictureAlone: async () => {
    const { default: sharp } = await import("sharp");
    const photo = sharp(await readFile(`${cwd}/photo.jpg`), { autoOrient: true });
    const bytes = await photo.resize(2000, 2000, { fit: "inside" }).jpeg({ quality: 80 }).toBuffer();
    return bytes.toString("base64").length && bytes.length;
  },
  writeTool: async () => {
    for (let index = 0; index < writes; index += 1)
      await call("write_file", { path: `tool${index % 10}.txt`, content });
    return writes;
  },
  writePlain: async () => {
    for (let index = 0; index < writes; index += 1) {
      const descriptor = openSync(`${cwd}/plain${index % 10}.txt`, "w");
      writeSync(descriptor, content);
      fsyncSync(descriptor);
      closeSync(descriptor);
    }
    return writes;
  },
  writeAtomicPeer: async () => {
    const { default: writeFileAtomic } = await importPeer(installPeer("write-file-atomic"), "write-file-atomic");
    for (let index = 0; index < writes; index += 1) await writeFileAtomic(`${cwd}/peer${index % 10}.txt`, content);
    return writes;
  },
};

answer(cases[what]);
