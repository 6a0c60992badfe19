import { expect, test } from "vitest";
import { rootsFrom } from "./clientRoots.ts";

const roots = (...uris: unknown[]): string[] => rootsFrom({ roots: uris.map((uri) => ({ uri })) });

test("file roots become paths, decoded, each once", () => {
  expect(roots("file:///work/a%20b", "file:///work/%C3%BC", "file:///work/a%20b")).toEqual(["/work/a b", "/work/ü"]);
});

test("anything but a file root is left out", () => {
  expect(roots("https://x.example", "vscode-remote://x/y", "file://other-host/x", "file:///a%2Fb", 7, null)).toEqual(
    [],
  );
  for (const answer of [undefined, null, [], {}, { roots: "x" }, { roots: [null, 1] }])
    expect(rootsFrom(answer)).toEqual([]);
});
