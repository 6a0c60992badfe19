import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mountMcp } from "@toolcrib/mcp";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): Record<string, unknown> => JSON.parse(readFileSync(join(root, file), "utf8"));

interface Server {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly packages: readonly {
    readonly identifier: string;
    readonly version: string;
    readonly packageArguments: readonly { readonly type: string; readonly value?: string; readonly name?: string }[];
  }[];
}

test("every manifest says where the project lives, as the one line in package.json does", () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts/release/metadata.mjs"), "--check"], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { repository } = read("package.json");
  for (const name of readdirSync(join(root, "packages"))) {
    const directory = `packages/${name}`;
    expect(read(`${directory}/package.json`)).toMatchObject({
      homepage: `${repository}/tree/main/${directory}#readme`,
      bugs: `${repository}/issues`,
      repository: { type: "git", url: `git+${repository}.git`, directory },
    });
  }
});

test("an option that is misspelt writes nothing", () => {
  const script = join(root, "scripts/release/metadata.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, "--chek"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: "release: Unknown option '--chek'; known are: --check\n" });
});

test("server.json has the shape of the MCP registry, and the registry finds its name in the package", () => {
  const server = read("packages/cli/server.json") as unknown as Server;
  const manifest = read("packages/cli/package.json");
  expect(server.name).toMatch(/^io\.github\.[\w-]+\/[\w.-]+$/);
  expect(server.name).toBe(manifest.mcpName);
  expect(server.description.length).toBeLessThanOrEqual(100);
  expect(server).toMatchObject({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    version: manifest.version,
    repository: { url: read("package.json").repository, source: "github", subfolder: "packages/cli" },
    packages: [
      {
        registryType: "npm",
        registryBaseUrl: "https://registry.npmjs.org",
        identifier: manifest.name,
        version: manifest.version,
        transport: { type: "stdio" },
      },
    ],
  });
  for (const { type, value, name } of server.packages[0]?.packageArguments ?? [])
    expect(type === "positional" ? value : name).toMatch(type === "positional" ? /^\w+$/ : /^--\w+$/);
});

test("the command line of server.json starts a server", async () => {
  const [entry] = (read("packages/cli/server.json") as unknown as Server).packages;
  const folder = temporaryFolder("server");
  const args = (entry?.packageArguments ?? []).flatMap(({ value, name = "" }) => (value ? [value] : [name, folder]));
  const command = process.execPath;
  const mcpServers = { own: { command, args: [join(root, "packages/cli/dist/bin.js"), ...args], cwd: folder } };
  await using mount = await mountMcp({ mcpServers });
  expect(mount.problems).toEqual([]);
  expect(mount.tools.map(({ name }) => name)).toContain("mcp__own__read_file");
});
