/** The limits and prices of a service's models, from the table that the agent uses. */
export async function modelsTable(service) {
  const { models } = await import("../../../packages/agent/dist/models.js");
  return [
    "| model | `reasoning` | forced tools | sampling | context, reply | dollars a million tokens: in, out; cache read, write, write for 1 h | read on |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...models[service].map(row),
  ].join("\n");
}

function row({ name, isFamily, reasoning, forcing, sampling, context, output, price, checkedOn, source, confidence }) {
  const efforts = reasoning.efforts.map((effort) => (effort === reasoning.default ? `**${effort}**` : effort));
  const cells = [
    `\`${name}\`${isFamily ? " …" : ""}`,
    efforts.join(", ") || "–",
    words[forcing],
    words[sampling],
    `${tokens(context)}, ${tokens(output)}`,
    price ? costs(price) : "–",
    `[${checkedOn}](${source})${confidence === "likely" ? ", likely" : ""}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

const words = { always: "yes", never: "no", "without-thinking": "if it does not think" };

function costs({ input, output, cacheRead, cacheWrite, cacheWriteHour, above }) {
  const cached = [cacheRead, cacheWrite, cacheWriteHour].filter((rate) => rate !== undefined);
  const more = above ? `; above ${tokens(above.inputTokens)} in × ${above.inputTimes}, out × ${above.outputTimes}` : "";
  return `${input}, ${output}; ${cached.map((rate) => Number(rate.toPrecision(6))).join(", ")}${more}`;
}

function tokens(count) {
  return count >= 1_000_000 ? `${count / 1_000_000}M` : `${count / 1000}k`;
}
