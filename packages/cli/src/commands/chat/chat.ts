import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { inputHistory } from "../../state/inputHistory.ts";
import { openChatInput } from "../../terminal/chatInput.ts";
import type { ConversationFlags } from "../buildAgent.ts";
import { addConversationFlags } from "../conversationFlags.ts";
import type { DefineCommand } from "../defineCommand.ts";

interface ChatFlags extends ConversationFlags {
  readonly plain?: boolean | undefined;
}

/** `toolcrib chat`: a line is a message; lines may be piped in, too. */
export const define: DefineCommand = (command, action) =>
  addConversationFlags(command)
    .option("--plain", "lines of plain text, none of which changes; also TOOLCRIB_PLAIN=1")
    .action(action(chat));

async function chat(program: Program, flags: ChatFlags): Promise<ExitReason> {
  const { terminal, interrupts, env } = program;
  if (flags.plain) env.TOOLCRIB_PLAIN = "1";
  // Until there is a session, Ctrl-C ends the program.
  const session = { interrupt: interrupts.interrupt };
  // Before the rest is loaded: the prompt is there at once, and what is typed meanwhile is kept.
  const history = inputHistory(env);
  const input = await openChatInput({ terminal, env, history, onInterrupt: () => session.interrupt() });
  try {
    const { converse } = await import("./converse.ts");
    return await converse(program, flags, input, session);
  } finally {
    input.close();
  }
}
