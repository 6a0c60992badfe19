import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const built = fileURLToPath(new URL("../dist/index.js", import.meta.url));

test.skipIf(!existsSync(built))(
  "the built package searches in its threads under plain node, and lets the process end",
  () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "search-built-")));
    try {
      writeFileSync(join(base, "a.txt"), "foo\n");
      const script = `
      const { createSearchTools } = await import(${JSON.stringify(built)});
      const [text, files] = createSearchTools({ cwd: ${JSON.stringify(base)} });
      console.log(String(await text.execute({ query: "fo+", regex: true, paths: ["."] })));
      console.log(String(await files.execute({ pattern: "*.txt" })));
    `;
      const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
        encoding: "utf8",
        timeout: 120_000,
      });
      expect(run.stderr).toBe("");
      expect(run.stdout).toBe("a.txt:1:foo\na.txt\n");
      expect(run.status).toBe(0);
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
);
