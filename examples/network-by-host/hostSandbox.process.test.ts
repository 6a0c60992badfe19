import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolRegistry } from "@toolcrib/core";
import { createRunBashTool, sandboxProblem } from "@toolcrib/tools-bash";
import { afterAll, expect, test } from "vitest";
import { createHostSandbox } from "./hostSandbox.ts";

/* With the package itself, which needs bubblewrap, socat and ripgrep on Linux. */

const root = realpathSync(mkdtempSync(join(tmpdir(), "network-by-host-")));
const server = createServer((_request, response) => response.end("reached"));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const { sandbox, close } = createHostSandbox(root, [`127.0.0.1:${port}`]);
const options = { cwd: root, root, deny: [".env"], sandbox };
const problem = await sandboxProblem(options);
const registry = new ToolRegistry([createRunBashTool(options)]);

afterAll(async () => {
  server.close();
  await close();
  rmSync(root, { recursive: true });
});

async function run(command: string, env: object = {}): Promise<{ stdout: string; stderr: string; exit_code: number }> {
  return JSON.parse(await registry.execute("run_bash", { command, env }));
}

const inSandbox = test.skipIf(problem !== undefined);

inSandbox("commands write in the folder and their temporary one, and nowhere else", async () => {
  const outside = `${root}-outside`;
  const { stdout, exit_code } = await run(`echo a >in; echo b >"$TMPDIR/t"; cat in "$TMPDIR/t"; touch ${outside}`);
  expect({ stdout, exit_code, isMade: existsSync(outside) }).toEqual({ stdout: "a\nb\n", exit_code: 1, isMade: false });
});

inSandbox("protected and denied paths stay, by every way", async () => {
  mkdirSync(join(root, "sub/[1]"), { recursive: true });
  for (const name of ["AGENTS.md", "sub/[1]/.envrc", "sub/.env"]) writeFileSync(join(root, name), "kept");
  const tries = ["AGENTS.md", "sub/[1]/.envrc", "sub/.env"].flatMap((path) => [
    `echo bad >'${path}'`,
    `rm -f '${path}'`,
    `mv in '${path}'`,
  ]);
  const { stdout, stderr } = await run(
    ["echo in >in", ...tries, "mv sub sub2", "cat sub*/.env", "echo end"].join("\n"),
  );
  expect(stdout).toBe("end\n");
  expect(stderr).toContain("[sandbox: commands cannot change ");
  for (const name of ["AGENTS.md", "sub/[1]/.envrc", "sub/.env"])
    expect([name, readFileSync(join(root, name), "utf8")]).toEqual([name, "kept"]);
});

inSandbox("variables are set for the command alone, whatever they hold", async () => {
  const { stdout, stderr } = await run("/usr/bin/printenv ODD", { ODD: "it's; $(touch made)", BASH_ENV: "/nowhere" });
  expect([stdout, stderr, existsSync(join(root, "made"))]).toEqual(["it's; $(touch made)\n", "", false]);
});

inSandbox("a host that is named is reached, and no other, whatever way is taken", async () => {
  const get = (words: string): string => `curl -sS -m 20 --noproxy ${words}`;
  const here = `http://127.0.0.1:${port}/`;
  expect((await run(get(`'' ${here}`))).stdout).toBe("reached");
  const others = [`'' http://localhost:${port}/`, "'' http://nobody.example/", `'*' ${here}`].map(get);
  const { stdout } = await run(others.join("; "));
  expect(stdout).not.toContain("reached");
  expect(stdout).toContain("Connection blocked by network allowlist");
});

inSandbox("the program prints the answer, and ends", () => {
  const args = [join(import.meta.dirname, "main.ts"), root, "", "echo on; touch x"];
  const printed = execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 60_000 });
  expect(JSON.parse(printed)).toEqual({ stdout: "on\n", stderr: "", exit_code: 0 });
});
