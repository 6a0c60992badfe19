import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Lists what importing a built file of this package loads: from other packages, as it is written there, the addresses of files, and Node's own modules. */
function loadedBy(file: string): { names: string[]; files: string[]; builtins: string[] } {
  const script = `
    import { isBuiltin, registerHooks } from "node:module";
    const names = new Set();
    const files = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        // Of Node's own modules, crypto alone takes longer to load than all of this package.
        const isLight = isBuiltin(specifier) && !/^(?:node:)?crypto$/.test(specifier);
        if (!isLight && !/^(?:\\.|file:)/.test(specifier)) names.add(specifier);
        const found = next(specifier, context);
        if (found.url.startsWith("file:")) files.add(found.url);
        return found;
      },
    });
    await import(${JSON.stringify(new URL(`../dist/${file}`, import.meta.url).href)});
    const builtins = process.moduleLoadList.filter((name) => name.startsWith("NativeModule "));
    console.log(JSON.stringify({ names: [...names], files: [...files], builtins }));`;
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd, encoding: "utf8" }));
}

test("importing the package loads no dependency that only some calls need", () => {
  expect(loadedBy("index.js").names.filter((name) => !name.startsWith("@toolcrib/"))).toEqual([]);
});

test("importing the package reads 20 files of ours, and leaves what only a turn or a command needs for the first one", () => {
  const { files, builtins } = loadedBy("index.js");
  expect(files.length).toBeLessThanOrEqual(20);
  const later = /function\*? ?(?:runTurn|runProgram)\(/;
  expect(files.filter((file) => later.test(readFileSync(new URL(file), "utf8")))).toEqual([]);
  expect(builtins).toContain("NativeModule path");
  // Node loads them with `node:fs` where that is imported by name.
  expect(builtins).not.toContain("NativeModule internal/fs/promises");
  expect(builtins).not.toContain("NativeModule stream");
});

test("importing the registry alone loads no agent", () => {
  const { names: loaded } = loadedBy("registry.js");
  expect(loaded).toContain("@toolcrib/tools-fs");
  expect(loaded).toContain("@toolcrib/agent/sessions");
  expect(loaded).not.toContain("@toolcrib/agent");
});

test("what is installed with the file tools holds no code that starts a program, searches by globs or knows a model's API", () => {
  for (const name of ["core", "kit", "tools-fs"]) {
    const built = fileURLToPath(new URL(`../../${name}/dist`, import.meta.url));
    const files = readdirSync(built, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
    expect(files.length, name).toBeGreaterThan(0);
    for (const file of files)
      expect(readFileSync(join(built, file), "utf8")).not.toMatch(/child_process|fast-glob|openai|@anthropic-ai/);
  }
});
