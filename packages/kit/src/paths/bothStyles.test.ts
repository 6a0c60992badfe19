import { posix, win32 } from "node:path";
import { isToolError } from "@toolcrib/core";
import { describe, expect, test } from "vitest";
import type { PathSystem } from "./canonicalPath.ts";
import type { PathScopeOptions } from "./pathLimits.ts";
import { createScopeIn, type PathScope } from "./pathScope.ts";

// What root, deny and readable do with every spelling of Windows, and that the same spellings are plain names elsewhere.

/** A Windows with these entries: letters of any case, short names and links lead to them. It notes what it was asked to look at. */
function windows(): PathSystem & { asked: string[] } {
  const entries = [
    "C:\\",
    "C:\\root",
    "C:\\root\\src",
    "C:\\root\\src\\a.ts",
    "C:\\root\\.env",
    "C:\\root\\.environment",
  ];
  entries.push("C:\\root\\lib", "C:\\root\\lib\\x", "C:\\root\\.git", "C:\\root\\.git\\config", "C:\\root\\a~b.txt");
  entries.push("C:\\outside", "C:\\outside\\secret", "D:\\", "D:\\data", "\\\\server\\share\\work");
  const shortNames: Record<string, string> = { "GIT~1": ".git", "ENVIRO~1": ".environment", "OUTSI~1": "outside" };
  const links: Record<string, string> = { "c:\\root\\out": "C:\\outside", "c:\\root\\data": "D:\\data" };
  const real = (path: string): string => {
    const { root } = win32.parse(path);
    let done = root.startsWith("\\\\") ? root.toLowerCase() : root.toUpperCase();
    for (const name of path.slice(root.length).split("\\").filter(Boolean)) {
      const long = win32.join(done, shortNames[name.toUpperCase()] ?? name);
      const found = entries.find((entry) => entry.toLowerCase() === long.toLowerCase()) ?? long;
      done = links[found.toLowerCase()] ?? found;
    }
    return done;
  };
  const asked: string[] = [];
  return {
    asked,
    style: win32,
    canonical(path) {
      asked.push(path);
      return real(win32.resolve(path));
    },
    lstat(path) {
      if (path.toLowerCase() in links) return { isDirectory: () => false, isSymbolicLink: () => true };
      if (!entries.includes(real(path))) return undefined;
      return { isDirectory: () => !/\.\w+$/.test(path), isSymbolicLink: () => false };
    },
    list: (folder) => entries.filter((entry) => win32.dirname(entry) === folder).map((entry) => win32.basename(entry)),
  };
}

const elsewhere: PathSystem = {
  style: posix,
  canonical: (path) => posix.resolve(path),
  lstat: () => undefined,
  list: () => [],
};

function inWindows(options: Partial<PathScopeOptions> = {}): PathScope {
  return createScopeIn(windows(), { root: "C:\\root", cwd: "C:\\root", ...options });
}

async function outcomeOf(run: Promise<string>): Promise<string> {
  try {
    return await run;
  } catch (error) {
    return isToolError(error) ? `${error.code}: ${error.message}` : String(error);
  }
}

const waysOut = [
  ..."..\\outside\\secret|../outside/secret|src\\..\\..\\outside\\secret|src/..\\../outside|missing\\..\\..\\outside".split(
    "|",
  ),
  ..."\\outside\\secret|/outside/secret|\\|/|C:\\outside|c:/OUTSIDE/secret|C:\\root2|C:\\root\\..\\outside|D:\\data|d:/data".split(
    "|",
  ),
  ..."C:outside|c:|C:..\\outside|D:data|Z:secret|C:.".split("|"),
  ..."\\\\server\\share\\work|//server/share/work|\\\\SERVER\\share\\x|\\/server/share|\\\\localhost\\C$\\outside|//evil@80/a/b".split(
    "|",
  ),
  ..."\\\\?\\C:\\outside|//?/C:/outside|\\\\.\\C:\\outside|//./pipe/x|\\??\\C:\\outside|/??/C:/outside|\\\\?\\UNC\\server\\share".split(
    "|",
  ),
  ..."\\\\?\\GLOBALROOT\\Device\\x|\\OUTSI~1\\secret|..\\OUTSI~1\\secret|C:\\outsi~1\\secret|out|out\\secret|OUT\\new|data\\x".split(
    "|",
  ),
  ..."src\\..\\out\\new|~\\x|~/x|con|src\\NUL.txt|com\u00b9|lpt1.log|src:ads|.git::$INDEX_ALLOCATION\\config|src.\\a.ts|src \\a.ts".split(
    "|",
  ),
  ..."..\\outside.\\secret|... |.. \\outside|..:x|a|b?|\u0001".split("|").filter((path) => path !== "a"),
];

describe("on Windows no path leaves the root", () => {
  test.each(waysOut)("%j is refused in words, whatever it is for", async (path) => {
    const scope = inWindows();
    for (const run of [scope.resolve(path), scope.resolve(path, "path", "read"), scope.resolveEntry(`${path}\\x`)]) {
      expect(await outcomeOf(run)).toMatch(
        /^(?:permission_denied: Permission denied: .* is outside C:\\root; use a path inside|invalid_arguments: Invalid arguments: path: .*; .+)$/s,
      );
    }
  });

  test("what lies inside comes back as the system lists it", async () => {
    const scope = inWindows();
    const paths =
      "src\\a.ts|src/a.ts|SRC\\A.TS|.\\src\\..\\src/a.ts|\\root\\src\\a.ts|/root/src/a.ts|C:\\root\\src\\a.ts|c:/ROOT/src/a.ts";
    for (const path of paths.split("|")) expect(await scope.resolve(path), path).toBe("C:\\root\\src\\a.ts");
    expect(await scope.resolve("new\\deep/x")).toBe("C:\\root\\new\\deep\\x");
    expect(await scope.resolve("GIT~1\\config")).toBe("C:\\root\\.git\\config");
    expect(scope.shorten("C:\\root\\src\\a.ts")).toBe("src/a.ts");
  });

  test("another share is not looked at, as that would send the user's login to its server", async () => {
    const system = windows();
    const scope = createScopeIn(system, {
      root: ["C:\\root", "\\\\server\\share\\work"],
      readable: "//Server/Docs/a",
      deny: ["x/"],
    });
    system.asked.length = 0;
    for (const path of ["\\\\evil\\share\\x", "//evil/share/x", "\\\\server\\other\\x", "//server/share2"])
      expect(await outcomeOf(scope.resolve(path, "path", "read")), path).toMatch(/^permission_denied: .* is outside /);
    expect(system.asked).toEqual([]);
    expect(await scope.resolve("//SERVER/share/work/a")).toMatch(/^\\\\server\\share\\work\\a$/i);
    expect(await outcomeOf(scope.resolve("//server/share/else"))).toMatch(/^permission_denied/);
    expect(await scope.resolve("//server/DOCS/a/b", "path", "read")).toMatch(/\\b$/);
  });

  test("an entry is not named by its short name, by which no list would know it", async () => {
    const scope = inWindows({ deny: [".environment"] });
    for (const path of ["GIT~1", "git~1", "ENVIRO~1", "C:\\root\\Git~1", "src\\..\\GIT~1"])
      expect(await outcomeOf(scope.resolveEntry(path)), path).toBe(
        "invalid_arguments: Invalid arguments: path: is a short name of Windows; give the name that a listing shows",
      );
    for (const name of ["a~b.txt", "A~B.txt", "NEW~1"])
      expect(await scope.resolveEntry(name)).toBe(`C:\\root\\${name}`);
  });
});

describe("on Windows deny and readable hold in every spelling", () => {
  const denied =
    ".env|.ENV|.\\.env|src\\..\\.Env|C:\\root\\.env|c:/root/.env|\\root\\.env|/ROOT/.env|ENVIRO~1|enviro~1|.\\ENVIRO~1|lib|LIB\\x|lib/x|lib\\new\\y";

  test.each(denied.split("|"))("%j is denied", async (path) => {
    const scope = inWindows({ deny: [".env", ".environment", "lib/"] });
    expect(await outcomeOf(scope.resolve(path, "path", "read"))).toMatch(
      /^permission_denied: .* is on the list of denied paths/,
    );
  });

  test.each([
    ".env::$DATA",
    ".env:x",
    ".env.",
    ".env ",
    "lib.\\x",
    "lib::$INDEX_ALLOCATION\\x",
    "\\\\?\\C:\\root\\.env",
  ])("%j is no way around", async (path) => {
    const scope = inWindows({ deny: [".env", "lib/"] });
    expect(await outcomeOf(scope.resolve(path, "path", "read"))).toMatch(/^invalid_arguments: /);
  });

  test.each([
    ["C:/root/lib/", "lib\\x"],
    ["c:/root/lib/", "lib\\x"],
    ["C:/ROOT/LIB", "lib\\x"],
    ["/root/lib/", "lib\\x"],
    ["C:/root/*/x", "lib\\x"],
    ["C:/*/lib", "lib\\x"],
    ["./lib/", "lib\\x"],
    ["src/a.ts", "SRC\\A.ts"],
    ["*.TS", "src\\a.ts"],
    ["C:/", "src"],
  ])("the pattern %s denies %s", async (pattern, path) => {
    expect(await outcomeOf(inWindows({ deny: [pattern] }).resolve(path))).toMatch(/^permission_denied/);
  });

  test("a pattern of a share denies what is on it", async () => {
    const system = windows();
    const scope = createScopeIn(system, { root: "\\\\server\\share\\work", deny: ["//server/SHARE/work/key"] });
    expect(await outcomeOf(scope.resolve("\\\\server\\share\\work\\KEY\\x"))).toMatch(/denied paths/);
    expect(await scope.resolve("\\\\server\\share\\work\\other")).toMatch(/other$/);
  });

  test.each(["lib\\x", "C:\\root\\lib", ".\\lib", "~\\x", "\\\\server\\share\\x", "src\\"])(
    "the pattern %j, which would match nothing, is refused",
    (pattern) => {
      expect(() => inWindows({ deny: [pattern] })).toThrow(/write \/ between names/);
    },
  );

  test.each(["a\\*", "\\[x\\]", "\\!x", "\\#x", "a\\ b", "\\{x\\}"])(
    "the pattern %j escapes a character",
    (pattern) => {
      expect(() => inWindows({ deny: [pattern] })).not.toThrow();
    },
  );

  test("a read-only directory is read and not written, inside the root and on another drive", async () => {
    const scope = inWindows({ readable: ["c:/ROOT/lib", "D:\\data"] });
    for (const path of ["lib\\x", "LIB/x", "c:\\root\\LIB\\x", "d:/DATA/x", "data\\x"]) {
      expect(await scope.resolve(path, "path", "read"), path).toMatch(/\\x$/);
      expect(await outcomeOf(scope.resolve(path)), path).toMatch(/read-only|is outside/);
    }
  });
});

test("on POSIX the same spellings are plain names inside the root, but for those with a slash", async () => {
  const scope = createScopeIn(elsewhere, { root: "/root", cwd: "/root", deny: ["lib\\x", ".env"] });
  for (const path of waysOut.filter((one) => !one.includes("/") && !one.startsWith("~")))
    expect(await scope.resolve(path), path).toBe(`/root/${path}`);
  for (const path of waysOut.filter((one) => /^(?:\.\.)?\//.test(one)))
    expect(await outcomeOf(scope.resolve(path)), path).toMatch(/^permission_denied/);
  expect(await scope.resolve(".ENV:x")).toBe("/root/.ENV:x");
  expect(await outcomeOf(scope.resolve("libx"))).toMatch(/^permission_denied/);
  expect(await scope.resolveEntry("GIT~1")).toBe("/root/GIT~1");
});
