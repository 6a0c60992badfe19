import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { AcpCommand, AcpSession } from "./types.ts";

/** Lists the commands that `/` offers in a session. */
export function availableCommands(session: AcpSession): AvailableCommand[] {
  return commandsOf(session).map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}

/** Returns the command that a prompt consists of; undefined for one that goes to the model. */
export function typedCommand(
  text: string,
  session: AcpSession,
): { readonly command: AcpCommand; readonly input: string } | undefined {
  const [, name, input = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commandsOf(session).find((one) => one.name === name);
  return command && { command, input };
}

function commandsOf({ agent, commands = [] }: AcpSession): readonly AcpCommand[] {
  const compact: AcpCommand = {
    name: "compact",
    description: "Shorten the conversation",
    async run(_input, signal) {
      const done = await agent.compact({ signal });
      if (!done) return "The conversation is too short to be shortened.";
      const { summarisedMessages: summarised, leftOutMessages: leftOut = 0, cutMessages = 0 } = done;
      const parts = [
        summarised > 0 && `a summary replaces ${summarised} messages`,
        leftOut > 0 && `${leftOut} older messages are left out`,
        cutMessages > 0 && `${cutMessages} long messages were cut`,
      ];
      return `Shortened: ${parts.filter(Boolean).join(", ")}.`;
    },
  };
  return [compact, ...commands];
}
