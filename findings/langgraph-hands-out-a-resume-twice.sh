#!/usr/bin/env bash
# 2026-11-29, @langchain/langgraph@1.7.3
# A plain resume value stays in the checkpoint. If the tasks that got it ask again, and the next resume names one of them by its id, the other
# is given the old value once more, as if the user had answered its new question.
# Who is hurt: graphs with several interrupts that ask again after an answer they cannot use: a yes to one question answers the next.
# Seen: task one was given "no" twice; the user said it once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/langgraph@1.7.3 @langchain/core@1.4.0 2>/dev/null
cat >show.mjs <<'J'
import { Annotation, Command, interrupt, MemorySaver, StateGraph } from "@langchain/langgraph";
let given = [];
const ask = (name) => () => {
  const answers = [];
  if (name === "one") given = answers;
  for (;;) {
    const answer = interrupt(`question ${answers.length + 1} of ${name}`);
    answers.push(answer);
    if (answer === "yes") return {};
  }
};
const graph = new StateGraph(Annotation.Root({ x: Annotation() }))
  .addNode("one", ask("one"))
  .addNode("two", ask("two"))
  .addEdge("__start__", "one")
  .addEdge("__start__", "two")
  .compile({ checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: "1" } };
await graph.invoke({ x: 1 }, thread);
const asked = await graph.invoke(new Command({ resume: "no" }), thread);
const two = asked.__interrupt__.find(({ value }) => value.endsWith("two"));
await graph.invoke(new Command({ resume: { [two.id]: "yes" } }), thread);
console.log(JSON.stringify(given));
J
node show.mjs | tee seen
[ "$(cat seen)" = '["no","no"]' ]
