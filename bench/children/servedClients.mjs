// 100 clients of an MCP server, of the protocol without sessions; each message makes ten calls of each. The first argument is its address.
import { answer } from "../pairs.mjs";
import { importPeer, installPeer } from "../peers.mjs";

const { Client, StreamableHTTPClientTransport } = await importPeer(
  installPeer("mcp-sdk"),
  "@modelcontextprotocol/client",
);
const url = new URL(process.argv[2]);
const clients = await Promise.all(
  Array.from({ length: 100 }, async () => {
    const versionNegotiation = { mode: { pin: "2026-07-28" } };
    const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation });
    await client.connect(new StreamableHTTPClientTransport(url));
    return client;
  }),
);

answer(async () => {
  const sums = await Promise.all(
    clients.map(async (client, index) => {
      let sum = 0;
      for (let round = 0; round < 10; round += 1) {
        const { content } = await client.callTool({ name: "add", arguments: { a: index, b: round } });
        sum += Number(content[0].text);
      }
      return sum;
    }),
  );
  return sums.reduce((total, sum) => total + sum, 0);
});
