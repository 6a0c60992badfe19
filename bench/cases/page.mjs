import { pair, startChild } from "../pairs.mjs";

const warmUps = 10;

/** Measures what our handler adds to a turn of 1,000 deltas, beside a bridge that is written with the AI SDK's own functions. */
export async function page(report, { rounds }) {
  const [ours, sdk] = ["ours", "sdk"].map((way) => startChild("page.mjs", { args: [way] }));
  for (let warm = 0; warm < warmUps; warm += 1) for (const child of [ours, sdk]) await child.ask();
  report({
    name: "a page's turn of 1,000 deltas, to the AI SDK's own stream",
    goal: 1.3,
    ...(await pair(ours, sdk, { rounds })),
    sameCount: true,
  });
  const [own, other] = [await ours.ask(), await sdk.ask()];
  const ratio = own.bytes / other.bytes;
  report({ name: "the same, bytes", goal: 1.3, ratio: { median: ratio, min: ratio, max: ratio } });
  for (const child of [ours, sdk]) child.end();
}
