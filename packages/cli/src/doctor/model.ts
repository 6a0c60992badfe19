import { checkModelAddress, checkModelSources } from "@toolcrib/agent/models";
import { loadSources } from "../config/loadSources.ts";
import { findSetting } from "../config/settings.ts";
import { messageOf } from "../explain.ts";
import { chooseModel, type ModelChoice } from "../model/modelChoice.ts";
import { connectionAdvice, type ModelFlags } from "../sharedFlags.ts";
import type { Check } from "./check.ts";

/** Checks keys, which are never shown, model servers on this machine, and whether the model that would be used can be reached. */
export const checkModel: Check = async (program, signal) => {
  const { findings, localServers } = await checkModelSources();
  // A project that is not trusted has no say.
  const sources = await loadSources(program, false).catch(() => []);
  const setting = (key: string): string | undefined => findSetting(sources, key)?.value as string | undefined;
  const baseUrl = setting("baseUrl");
  let choice: ModelChoice;
  try {
    choice = await chooseModel(
      {
        model: setting("model"),
        baseUrl,
        reasoning: setting("reasoning") as ModelFlags["reasoning"],
      },
      program.env,
    );
  } catch (error) {
    const advice = "name another model: toolcrib config set model PROVIDER/MODEL";
    return {
      findings: [...findings, { level: "problem", text: messageOf(error), advice }],
      data: { localServers },
    };
  }
  const { provider, why } = choice;
  const data = { localServers, model: `${provider.name}/${provider.model}` };
  if (provider.name === "offline") {
    const advice = `one of these: ${connectionAdvice.join("; ")}`;
    return { findings: [...findings, { level: "warning", text: "no model is connected", advice }], data };
  }
  const reached = await checkModelAddress(provider.name, baseUrl, signal);
  return { findings: [...findings, { level: "ok", text: why }, ...(reached ? [reached] : [])], data };
};
