import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const sources = new URL("../../mcp/fixtures/sources.mjs", import.meta.url).href;

/** Judges one call of each kind, and prints after which the reader of shell lines had been loaded. */
const program = `
  import { registerHooks } from "node:module";
  let loaded = false;
  registerHooks({ load: (url, context, next) => {
    loaded ||= url.includes("/policy/src/shell/");
    return next(url, context);
  } });
  const { createPolicy } = await import("@toolcrib/policy");
  const { guard } = createPolicy({ roots: process.cwd() });
  const call = { name: "x", args: {}, origin: "own", tool: { name: "x" } };
  const read = await guard({ ...call, effects: [{ kind: "read", path: process.cwd() + "/a" }] });
  console.log(read, loaded);
  const run = await guard({ ...call, effects: [{ kind: "execute", command: "ls", cwd: process.cwd() }] });
  console.log(run, loaded);
`;

test("the reader of shell lines is loaded with the first command, not for files", () => {
  const args = ["--import", sources, "--input-type=module", "-e", program];
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  expect(execFileSync(process.execPath, args, { cwd, encoding: "utf8" })).toBe("true false\ntrue true\n");
});
