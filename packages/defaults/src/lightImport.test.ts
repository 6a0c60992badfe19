import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Lists what importing a built file of this package loads from other packages, as it is written there. */
function loadedBy(file: string): string[] {
  const script = `
    import { isBuiltin, registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        // Of Node's own modules, crypto alone takes longer to load than all of this package.
        const isLight = isBuiltin(specifier) && !/^(?:node:)?crypto$/.test(specifier);
        if (!isLight && !/^(?:\\.|file:)/.test(specifier)) loaded.add(specifier);
        return next(specifier, context);
      },
    });
    await import(${JSON.stringify(new URL(`../dist/${file}`, import.meta.url).href)});
    console.log([...loaded].join("\\n"));`;
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd, encoding: "utf8" });
  return loaded.trim().split("\n").filter(Boolean);
}

test("importing the package loads no dependency that only some calls need", () => {
  expect(loadedBy("index.js").filter((name) => !name.startsWith("@toolcrib/"))).toEqual([]);
});

test("importing the registry alone loads no agent", () => {
  const loaded = loadedBy("registry.js");
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
