// `npm run test:neighbours`: published MCP servers, mounted and shown to models by every provider and adapter. `-- NAME …` runs the
// servers whose name contains one of the words, `-- --write` renews the table in the docs.
import { readFileSync, writeFileSync } from "node:fs";
import { runCases } from "../consumers/runCases.mjs";
import { servers } from "./installed.mjs";
import { tryServer } from "./tryServer.mjs";

const page = new URL("../../docs/src/content/docs/guides/mcp-servers.md", import.meta.url);
const rows = new Map();

await runCases(
  servers.map((server) => [
    server.name,
    async () => {
      const { row, remark } = await tryServer(server);
      rows.set(server, `| ${row.join(" | ")} |\n`);
      return remark;
    },
    { beside: true },
  ]),
);
if (process.argv.includes("--write") && rows.size === servers.length) {
  const table = servers.map((server) => rows.get(server)).join("");
  const text = readFileSync(page, "utf8").replace(/(\| ---.*\n)(\|.*\n)+/, (_, rule) => rule + table);
  writeFileSync(page, text);
}
