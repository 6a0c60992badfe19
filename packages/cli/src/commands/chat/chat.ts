import type { ExitReason } from "../../exitReasons.ts";
import type { Program } from "../../program.ts";
import { conversationFlags } from "../../sharedFlags.ts";
import { inputHistory } from "../../state/inputHistory.ts";
import { openChatInput } from "../../terminal/chatInput.ts";
import type { ConversationFlags } from "../buildAgent.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

/** `toolcrib chat`: a line is a message; lines may be piped in, too. */
export const chat: DefineCommand = defineCommand({
  flags: {
    ...conversationFlags,
    plain: { usage: "--plain", about: "lines of plain text, none of which changes; also TOOLCRIB_PLAIN=1" },
  },
  run: (program, { plain, ...flags }) => openChat(program, flags, plain),
});

async function openChat(program: Program, flags: ConversationFlags, isPlain = false): Promise<ExitReason> {
  const { terminal, interrupts, env } = program;
  if (isPlain) env.TOOLCRIB_PLAIN = "1";
  // Until there is a session, Ctrl-C ends the program.
  const session = { interrupt: interrupts.interrupt };
  // Before the rest is loaded: the prompt is there at once, and what is typed meanwhile is kept.
  const history = inputHistory(env);
  const input = await openChatInput({
    terminal,
    env,
    history,
    onInterrupt: () => session.interrupt(),
    onEscape: interrupts.stop,
  });
  try {
    const { converse } = await import("./converse.ts");
    return await converse(program, flags, input, session);
  } finally {
    input.close();
  }
}
