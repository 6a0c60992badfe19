import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const built = new URL("../dist/index.js", import.meta.url).href;

test("importing the package loads no dependency that only some calls need", () => {
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
    await import(${JSON.stringify(built)});
    console.log([...loaded].filter((name) => !name.startsWith("@toolcrib/")).join("\\n"));`;
  const cwd = fileURLToPath(new URL("../", import.meta.url));
  const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd, encoding: "utf8" });
  expect(loaded.trim().split("\n").filter(Boolean)).toEqual([]);
});
