import { localServers, offerFound, shownAddress } from "@toolcrib/agent/models";
import { redactUrls } from "@toolcrib/core/text";
import { loadSources } from "../config/loadSources.ts";
import { findSetting } from "../config/settings.ts";
import { messageOf } from "../explain.ts";
import { chooseModel } from "../model/modelChoice.ts";
import { waysToConnect } from "../model/waysToConnect.ts";
import type { Check, Finding } from "./check.ts";

/** The services that need a key: where they are unless a variable says otherwise. */
const services = [
  { name: "openai", key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL", address: "https://api.openai.com/v1" },
  { name: "anthropic", key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL", address: "https://api.anthropic.com" },
  { name: "openrouter", key: "OPENROUTER_API_KEY", base: "", address: "https://openrouter.ai/api/v1" },
] as const;

const mostMs = 5000;

/** Keys, which are never shown, model servers on this machine, and whether the model that would be used can be reached. */
export const checkModel: Check = async (_flags, program, signal) => {
  const { env } = program;
  const findings = services.flatMap(({ key }) => keyFinding(key, env[key]));
  const servers = await localServers();
  const offers = await Promise.all(servers.map(offerFound));
  const found = servers.flatMap((server, index) => {
    const model = offers[index]?.model;
    return model === undefined ? [] : [`${server.label} answers at ${shownAddress(server)} with ${model}`];
  });
  findings.push(...found.map((text): Finding => ({ level: "ok", text })));
  if (found.length === 0) findings.push({ level: "note", text: "no model server answers on this machine" });
  const chosen = await choose(program);
  if ("finding" in chosen) return { findings: [...findings, chosen.finding], data: { localServers: found } };
  const { provider, why, baseUrl } = chosen;
  const data = { localServers: found, model: `${provider.name}/${provider.model}` };
  if (provider.name === "offline") {
    const advice = `one of these: ${waysToConnect.join("; ")}`;
    return { findings: [...findings, { level: "warning", text: "no model is connected", advice }], data };
  }
  findings.push({ level: "ok", text: why });
  const service = services.find(({ name }) => name === provider.name);
  const address = baseUrl ?? (service && (env[service.base]?.trim() || service.address));
  if (address !== undefined) findings.push(await reach(address, signal));
  return { findings, data };
};

function keyFinding(name: string, key: string | undefined): Finding[] {
  if (key === undefined) return [];
  if (key.trim() === "") return [{ level: "warning", text: `${name} is set and empty`, advice: "set it, or unset it" }];
  const isOdd = /\s|^["'`]|["'`]$/.test(key);
  const advice = "set it again, the key alone";
  return [
    isOdd
      ? { level: "warning", text: `${name} is set, with spaces or quotes in it`, advice }
      : { level: "ok", text: `${name} is set in the environment` },
  ];
}

type Program = Parameters<Check>[1];

/** The model that a conversation would use here. A project that is not trusted has no say. */
async function choose(program: Program): Promise<{ finding: Finding } | Awaited<ReturnType<typeof chosenBy>>> {
  try {
    return await chosenBy(program);
  } catch (error) {
    const advice = "name another model: toolcrib config set model PROVIDER/MODEL";
    return { finding: { level: "problem", text: messageOf(error), advice } };
  }
}

async function chosenBy(program: Program) {
  const sources = await loadSources(program, false).catch(() => []);
  const setting = (key: string): string | undefined => findSetting(sources, key)?.value as string | undefined;
  const baseUrl = setting("baseUrl");
  return { ...(await chooseModel({ model: setting("model"), baseUrl })), baseUrl };
}

/** Any answer counts: no key is sent. */
async function reach(address: string, signal: AbortSignal): Promise<Finding> {
  const shown = redactUrls(address);
  try {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
    const response = await fetch(address, { method: "HEAD", redirect: "manual", signal: ended });
    await response.body?.cancel();
    return { level: "ok", text: `${shown} answers` };
  } catch (error) {
    signal.throwIfAborted();
    const { cause } = error as { cause?: { code?: unknown } };
    const reason = typeof cause?.code === "string" ? cause.code : `nothing within ${mostMs / 1000} s`;
    return {
      level: "problem",
      text: `${shown} cannot be reached (${reason})`,
      advice: "check the network, a proxy, and the address if you have set one",
    };
  }
}
