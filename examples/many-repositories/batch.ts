import { mkdirSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { Agent, type AgentEvent, type PendingCall, type Provider } from "@toolcrib/agent";
import { ToolRegistry } from "@toolcrib/core";
import { messageOf } from "@toolcrib/core/text";
import { createSemaphore } from "@toolcrib/kit/files";
import { createPolicy } from "@toolcrib/policy";
import { createFsTools } from "@toolcrib/tools-fs";
import { createSearchTools } from "@toolcrib/tools-search";

export interface Report {
  readonly repository: string;
  /** The answer of the model, or what went wrong. */
  readonly text: string;
  readonly failed: boolean;
  readonly pending: readonly PendingCall[];
}

/** Answers the question about one call: yes, no, or why not. */
export type Decide = (repository: string, call: PendingCall) => Promise<boolean | string>;

const fourAtATime = createSemaphore(4);

/** Beside the repositories, so that no tool reaches it: whoever can write a journal can answer in it. */
const journalOf = (folder: string, repository: string): string => join(folder, ".batch", `${repository}.jsonl`);

/** Reads run at once; each change waits until somebody has said yes. */
function createTools(root: string): ToolRegistry {
  const tools = [...createFsTools({ root }), ...createSearchTools({ root })];
  return new ToolRegistry(tools).guard(createPolicy({ roots: root, mode: "ask" }).guard);
}

/** Gives every repository in `folder` the task. */
export async function startAll(provider: Provider, folder: string, task: string): Promise<Report[]> {
  mkdirSync(join(folder, ".batch"), { recursive: true, mode: 0o700 });
  const entries = readdirSync(folder, { withFileTypes: true });
  const repositories = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  const start = async ({ name }: { name: string }): Promise<Report> => {
    const agent = new Agent(provider, { tools: createTools(join(folder, name)), journal: journalOf(folder, name) });
    return reportOf(name, agent.streamChat(task));
  };
  return Promise.all(repositories.map((entry) => fourAtATime(() => start(entry))));
}

/** Has every call that waits decided, then lets the turns go on; what they ask next is in the reports. */
export async function answerAll(provider: Provider, folder: string, decide: Decide): Promise<Report[]> {
  const journals = readdirSync(join(folder, ".batch")).filter((file) => file.endsWith(".jsonl"));
  const answered = [];
  for (const name of journals.map((file) => basename(file, ".jsonl"))) {
    const agent = await Agent.resume(provider, journalOf(folder, name), { tools: createTools(join(folder, name)) });
    const answers: Record<string, boolean | string> = {};
    // A call that has an answer was about to run when an earlier process ended.
    for (const call of agent.pending) if (!("answer" in call)) answers[call.callId] = await decide(name, call);
    if (agent.pending.length > 0) answered.push({ name, agent, answers });
  }
  return Promise.all(
    answered.map((each) => fourAtATime(() => reportOf(each.name, each.agent.streamApprove(each.answers)))),
  );
}

/** One repository that fails does not stop the others. */
async function reportOf(repository: string, events: AsyncIterable<AgentEvent>): Promise<Report> {
  try {
    for await (const event of events) {
      if (event.type !== "end") continue;
      const failed = event.reason !== "stop" && event.reason !== "approval";
      const text = failed ? `no answer: ${event.detail ?? event.reason}` : event.text;
      return { repository, text, failed, pending: event.pending ?? [] };
    }
    throw new Error("The turn had no end.");
  } catch (error) {
    return { repository, text: messageOf(error), failed: true, pending: [] };
  }
}
