// Writes where the project lives into every manifest and into the entry for the MCP registry, from `repository` of the root's
// package.json, and the versions into that entry. `--check` writes nothing and fails where something differs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, options, root } from "./packages.mjs";

const { check: isCheck } = options({ check: { type: "boolean" } });
const read = (file) => readFileSync(join(root, file), "utf8");
const { repository } = JSON.parse(read("package.json"));
const [, owner, project] = /^https:\/\/github\.com\/([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? [];
if (!owner) fail(`repository of package.json has to be https://github.com/OWNER/NAME, not ${repository}`);
/** The owner of the repository may publish under this name. */
const mcpName = `io.github.${owner}/${project}`;

const changed = [];
const write = (file, content) => {
  const text = `${JSON.stringify(content, undefined, 2)}\n`;
  if (text === read(file)) return;
  changed.push(file);
  if (!isCheck) writeFileSync(join(root, file), text);
};

for (const name of readdirSync(join(root, "packages"))) {
  const { homepage, bugs, repository: _, mcpName: __, ...manifest } = JSON.parse(read(`packages/${name}/package.json`));
  const entries = Object.entries(manifest);
  const at = entries.findIndex(([key]) => key === "license") + 1;
  const directory = `packages/${name}`;
  entries.splice(
    at,
    0,
    ["homepage", `${repository}/tree/main/${directory}#readme`],
    ["bugs", `${repository}/issues`],
    ["repository", { type: "git", url: `git+${repository}.git`, directory }],
    ...(name === "cli" ? [["mcpName", mcpName]] : []),
  );
  write(`${directory}/package.json`, Object.fromEntries(entries));
}

const { version } = JSON.parse(read("packages/cli/package.json"));
const server = JSON.parse(read("packages/cli/server.json"));
write("packages/cli/server.json", {
  ...server,
  name: mcpName,
  repository: { ...server.repository, url: repository },
  version,
  packages: server.packages.map((one) => ({ ...one, version })),
});

if (isCheck && changed.length > 0)
  fail(`${changed.join(", ")} differ from what package.json says; run npm run release:metadata`);
