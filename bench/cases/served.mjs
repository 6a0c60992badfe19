import { pair, startChild } from "../pairs.mjs";
import { installPeer } from "../peers.mjs";

/** A registry served over MCP's streamable HTTP, without sessions, to 100 clients in another process, beside the SDK's own server. */
export async function served(report, { rounds }) {
  try {
    // Before two processes want it at once.
    installPeer("mcp-sdk");
  } catch (error) {
    report({ name: "a registry over MCP HTTP, to the SDK's own server", missing: error.message.split("\n")[0] });
    return;
  }
  const servers = {
    ours: startChild("served.mjs", { args: ["ours"] }),
    sdk: startChild("served.mjs", { args: ["sdk"] }),
  };
  const clients = [];
  try {
    for (const server of Object.values(servers)) {
      const { url } = await server.ask();
      clients.push(startChild("servedClients.mjs", { args: [url] }));
    }
    const [ours, sdk] = clients;
    const calls = await pair(ours, sdk, { rounds });
    report({
      name: "a registry over MCP HTTP, time of 1,000 calls by 100 clients, to the SDK's own server",
      goal: 1 / 0.95,
      ...calls,
      sameCount: true,
    });
    const [own, other] = [await servers.ours.ask(), await servers.sdk.ask()];
    const ratio = own.rssMb / other.rssMb;
    report({
      name: "the same, memory of the server after them",
      goal: 1.2,
      ratio: { median: ratio, min: ratio, max: ratio },
    });
  } finally {
    for (const child of [...clients, ...Object.values(servers)]) child.end();
  }
}
