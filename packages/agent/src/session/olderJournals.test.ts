import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@toolcrib/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { assertConversation, ScriptedProvider } from "../testing.ts";
import { readTranscript } from "../transcript/readTranscript.ts";
import journals from "./fixtures/olderJournals.json" with { type: "json" };
import { openSession } from "./openSession.ts";

// As journals were written before they held an opening, with what was read from each.
test.each(journals)("an older journal opens, shows and goes on as before: $name", async ({ journal, ...expected }) => {
  const file = join(temporaryFolder("older"), "one.jsonl");
  writeFileSync(file, journal.join("\n"));
  const { session } = await openSession(file);
  expect(session).toEqual(expected.session);
  expect(JSON.parse(JSON.stringify(await readTranscript(file)))).toEqual(expected.transcript);

  const provider = new ScriptedProvider(["on", "and on"]);
  const agent = await Agent.resume(provider, file);
  expect(agent.usage).toEqual(expected.session.usage);
  await agent.chat("go on");
  await (await Agent.resume(provider, file)).chat("and on");
  const [first, second] = provider.requests;
  expect(first?.opening).toMatchObject({ systemPrompt: expected.session.systemPrompt });
  expect(second?.opening).toEqual(first?.opening);
  expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages);
  assertConversation(second?.messages ?? []);
});
