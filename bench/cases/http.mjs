import { createServer } from "node:http";
import { pair, startChild } from "../pairs.mjs";

const steps = 50;

/** The agent's cost where a real SDK and HTTP are in between. */
export async function http(report, { rounds }) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => respond(response, JSON.parse(body).messages.filter(({ role }) => role === "tool").length));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
  const agent = startChild("http.mjs", { args: ["agent", baseURL] });
  const plain = startChild("http.mjs", { args: ["plain", baseURL] });
  try {
    report({
      name: `agent, ${steps} steps over HTTP on loopback, to a plain loop over the same SDK`,
      goal: 1.1,
      ...(await pair(agent, plain, { rounds: rounds * 2 })),
      sameCount: true,
    });
  } finally {
    agent.end();
    plain.end();
    server.close();
  }
}

function respond(response, done) {
  const delta =
    done < steps
      ? {
          role: "assistant",
          tool_calls: [
            {
              index: 0,
              id: `call_${done}`,
              type: "function",
              function: { name: "add", arguments: `{"a":${done},"b":1}` },
            },
          ],
        }
      : { role: "assistant", content: "done" };
  const chunk = (fields) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", ...fields })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ choices: [{ index: 0, delta, finish_reason: null }] }));
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: done < steps ? "tool_calls" : "stop" }] }));
  response.write(chunk({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }));
  response.end("data: [DONE]\n\n");
}
