import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { AgentError } from "@toolcrib/agent";
import { isObject, messageOf } from "@toolcrib/core/text";

/** The engine and the driver of the database, which are loaded when they are used. */
export interface Engine {
  readonly sdk: typeof import("@dbos-inc/dbos-sdk");
  readonly pg: typeof import("pg");
}

const sdkName = "@dbos-inc/dbos-sdk";
const install = "Run: npm install @dbos-inc/dbos-sdk@5 pg";

export async function loadEngine(): Promise<Engine> {
  try {
    const version = installedVersion();
    if (version !== undefined) checkVersion(version);
    const [sdk, pg] = await Promise.all([import("@dbos-inc/dbos-sdk"), import("pg")]);
    return { sdk, pg };
  } catch (cause) {
    if (!isObject(cause) || !/^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(cause.code))) throw cause;
    const message = `Durable runs on DBOS need the packages ${sdkName} and pg, which are not both installed. ${install}`;
    throw new AgentError({ code: "missing_sdk", message, cause });
  }
}

/** Returns the path of the engine's own code. */
export function enginePath(): string {
  return createRequire(import.meta.url).resolve(sdkName);
}

/** Returns the version of the engine; undefined for a checkout, in a folder of another name. */
function installedVersion(): string | undefined {
  const path = enginePath();
  const at = path.lastIndexOf(join(sdkName));
  if (at < 0) return undefined;
  return JSON.parse(readFileSync(join(path.slice(0, at), sdkName, "package.json"), "utf8")).version;
}

/** Throws for an engine whose public calls may be others than those that this package uses: ^5.3.0. */
export function checkVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major === 5 && minor >= 3) return;
  const message = `Durable runs need ${sdkName} ^5.3.0, and version ${version} is installed. ${install}`;
  throw new AgentError({ code: "missing_sdk", message });
}

/** Values of steps as plain JSON: any key is data, and nothing has a form of its own. */
export const plainJson = {
  name: (): string => "toolcrib_json",
  stringify: (value: unknown): string => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text == null ? null : JSON.parse(text)),
};

/** Returns a logger for the engine, of which the warnings alone are heard. */
export function warningsTo(
  onWarning: (message: string) => void,
): Record<"info" | "debug" | "warn" | "error", (entry: unknown) => void> {
  const warn = (entry: unknown): void => onWarning(typeof entry === "string" ? entry : messageOf(entry));
  return { info: () => {}, debug: () => {}, warn, error: warn };
}
