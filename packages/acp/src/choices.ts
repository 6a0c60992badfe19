import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { showLine } from "@toolcrib/core/internal";
import { invalidParams } from "./errors.ts";
import type { AcpChoice, AcpSession } from "./types.ts";

/** Lists the choices of a session, as clients from 2026 on show them. */
export function configOptions({ modes, models }: AcpSession): SessionConfigOption[] {
  return [
    ...(modes ? [selectOf("mode", "Permissions", modes)] : []),
    ...(models ? [selectOf("model", "Model", models)] : []),
  ];
}

/** Returns the modes once more, for clients that do not know the form above. */
export function modeState({ modes }: AcpSession): SessionModeState | undefined {
  return modes && { currentModeId: modes.current, availableModes: modes.available.map((mode) => ({ ...mode })) };
}

/** Chooses; throws for what is not on offer. */
export async function select(session: AcpSession, option: string, value: unknown): Promise<void> {
  const choice = option === "mode" ? session.modes : option === "model" ? session.models : undefined;
  if (!choice) throw invalidParams(`There is no option ${showLine(option)} here; see configOptions`);
  const chosen = choice.available.find(({ id }) => id === value);
  if (!chosen) {
    const ids = choice.available.map(({ id }) => id).join(", ");
    throw invalidParams(`${option} cannot be ${showLine(String(value))}; expected one of ${ids}`);
  }
  await choice.select(chosen.id);
}

function selectOf(id: "mode" | "model", name: string, { current, available }: AcpChoice): SessionConfigOption {
  const options = available.map(({ id: value, name, description }) => ({
    value,
    name,
    ...(description !== undefined && { description }),
  }));
  return { type: "select", id, name, category: id, currentValue: current, options };
}
