import { type ExitReason, usageError } from "../../exitReasons.ts";
import { conversationFlags } from "../../sharedFlags.ts";
import { inputHistory } from "../../state/inputHistory.ts";
import { openChatInput } from "../../terminal/chatInput.ts";
import { type DefineCommand, defineCommand } from "../defineCommand.ts";

/** `toolcrib chat`: a line is a message; lines may be piped in, too. Its words are the first message. */
export const chat: DefineCommand = defineCommand({
  flags: {
    ...conversationFlags,
    plain: { usage: "--plain", about: "print plain lines that never change; also TOOLCRIB_PLAIN=1" },
  },
  arguments: [["[message...]", "the first message; @FILE adds a file"]],
  async run(program, { plain, ...flags }, [words], command): Promise<ExitReason> {
    const [first = ""] = words;
    if (command.parent?.commands.some((one) => one.name() === first))
      throw usageError(`${first} is a command: its flags come after it; put a message in quotes`);
    const { interrupts, env, folders } = program;
    if (plain) env.TOOLCRIB_PLAIN = "1";
    // Before the rest is loaded: the prompt is there at once, and what is typed meanwhile is kept.
    const history = inputHistory(folders);
    const input = await openChatInput({
      program,
      history,
      onInterrupt: interrupts.interrupt,
      onEscape: interrupts.stop,
    });
    try {
      const { converse } = await import("./converse.ts");
      return await converse(program, { flags, message: words.join(" ").trim() }, input);
    } finally {
      interrupts.onIdle = undefined;
      input.close();
    }
  },
});
