import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { beforeEach, expect, test } from "vitest";
import { createSearchTools } from "./search.ts";

let base: string;
beforeEach(() => {
  base = temporaryFolder("search-roots");
});

/** Swaps `in/d` between a directory and a link to `out`, and `in/f` between a file and a link, as fast as it can. */
const swapper = `
  const fs = require("node:fs");
  process.chdir(process.argv[1]);
  for (;;) {
    fs.renameSync("in/d", "in/e"); fs.symlinkSync("../out", "in/d"); fs.unlinkSync("in/d"); fs.renameSync("in/e", "in/d");
    fs.renameSync("in/f", "in/g"); fs.symlinkSync("../out/secret", "in/f"); fs.unlinkSync("in/f"); fs.renameSync("in/g", "in/f");
  }
`;

test.skipIf(process.platform !== "linux")(
  "a link swapped in while a search runs never shows what is outside the roots",
  async () => {
    for (const directory of ["in/d", "out"]) mkdirSync(join(base, directory), { recursive: true });
    for (let i = 0; i < 20; i += 1) {
      writeFileSync(join(base, `in/d/f${i}`), "inside\n");
      writeFileSync(join(base, `out/f${i}`), "needle\n");
    }
    writeFileSync(join(base, "in/f"), "inside\n");
    writeFileSync(join(base, "out/secret"), "needle\n");
    const racer = spawn(process.execPath, ["-e", swapper, base], { stdio: "ignore" });
    try {
      const [text, files] = createSearchTools({ cwd: join(base, "in"), root: join(base, "in") });
      let inside = 0;
      for (let i = 0; i < 25; i += 1) {
        expect(String(await text?.execute({ query: "needle", paths: ["."] }))).toMatch(/^No matches/);
        if (/inside/.test(String(await text?.execute({ query: "inside", paths: ["."] })))) inside += 1;
        expect(String(await files?.execute({ pattern: "**" }))).not.toMatch(/secret/);
      }
      expect(inside).toBeGreaterThan(0);
    } finally {
      racer.kill("SIGKILL");
    }
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "files and directories without permission are named next to the matches",
  async () => {
    mkdirSync(join(base, "closed"));
    writeFileSync(join(base, "closed/x"), "foo\n");
    writeFileSync(join(base, "locked"), "foo\n");
    writeFileSync(join(base, "open"), "foo\n");
    chmodSync(base, 0o755);
    chmodSync(join(base, "closed"), 0o000);
    chmodSync(join(base, "locked"), 0o000);
    const [text] = createSearchTools({ cwd: base });
    await text?.execute({ query: "warm", paths: ["."] });
    process.seteuid?.(65534);
    try {
      expect(String(await text?.execute({ query: "foo", paths: ["."] }))).toBe(
        "open:1:foo\n\n[could not read closed (permission denied), locked (permission denied)]",
      );
    } finally {
      process.seteuid?.(0);
    }
  },
);
