import { corpus } from "../corpora.mjs";
import { pair, startChild } from "../pairs.mjs";

/** A search where the files are, 20 ms away, to one that fetches them; and its round trips, the question of a guard among them. */
export async function remotes(report) {
  const root = corpus("medium");
  if (root === undefined) return;
  const there = startChild("remotes.mjs", { args: ["there", root, "nowhere_to_be_found"] });
  const fetched = startChild("remotes.mjs", { args: ["file by file", root, "nowhere_to_be_found"] });
  try {
    const { trips } = await there.ask();
    report({ name: "search_text on a remote 20 ms away, round trips", value: trips, unit: "round trips", goal: 3 });
    const ratio = await pair(there, fetched, { rounds: 3 });
    report({
      name: "search_text on a remote 20 ms away, to fetching file by file, 32 at once",
      ...ratio,
      sameCount: true,
    });
  } finally {
    there.end();
    fetched.end();
  }
}
