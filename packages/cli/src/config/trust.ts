import { realpathSync } from "node:fs";
import { join } from "node:path";
import { ownFile } from "@toolcrib/core/files";
import { isObject, redactUrls, showInvisible } from "@toolcrib/core/text";
import { makeStateFolder } from "../state/stateFolder.ts";
import { type Settings, settings } from "./settings.ts";

/** What the user has said to the configuration of a directory: `changed`, to an earlier form of it. */
export type Trust = "trusted" | "refused" | "changed" | "new";

/** What the user has said to the projects' configurations, by directory and content. It lies outside of them. */
export interface TrustStore {
  of(text: string): Promise<Trust>;
  /** Keeps a yes or no to this content; undefined forgets the directory. */
  save(text: string, isTrusted: boolean | undefined): Promise<void>;
}

/** The answers for one directory. Their file is trusted only where nobody but the user can write it. */
export function trustStore(directory: string, env: NodeJS.ProcessEnv): TrustStore {
  const file = ownFile(join(makeStateFolder(env), "trusted.json"), { what: "the projects that you trust" });
  const place = realpathSync(directory);
  return {
    async of(text) {
      const known = parse(await file.read())[place];
      if (!isObject(known)) return "new";
      if (known.digest !== digestOf(text)) return "changed";
      return known.isTrusted === true ? "trusted" : "refused";
    },
    save: (text, isTrusted) =>
      file.change((found) => {
        const { [place]: _, ...others } = parse(found);
        const entry = isTrusted === undefined ? {} : { [place]: { digest: digestOf(text), isTrusted } };
        return `${JSON.stringify({ ...others, ...entry }, null, 2)}\n`;
      }),
  };
}

/** What cannot be read trusts nothing. */
function parse(text = "{}"): Readonly<Record<string, unknown>> {
  try {
    const known: unknown = JSON.parse(text);
    return isObject(known) ? known : {};
  } catch {
    return {};
  }
}

function digestOf(text: string): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex");
}

/** What holds of a project without its being trusted: a `deny` rule only narrows. An `ask` rule can put a question where the mode refuses. */
export function untrusted(values: Settings): Settings {
  return "deny" in values ? { deny: values.deny } : {};
}

/** What a project's configuration would change, a line each; what could harm comes first. Empty where trust changes nothing. */
export function describeChanges(values: Settings): string[] {
  const rows = Object.entries(values)
    .filter(([key]) => !(key in untrusted(values)))
    .map(([key, value]) => {
      const risk = settings[key]?.risk?.(value);
      const shown = typeof value === "string" ? redactUrls(value) : value;
      return { risk, line: `${risk ? "!" : " "} ${key}: ${JSON.stringify(shown)}${risk ? ` (${risk})` : ""}` };
    });
  const order = [...rows.filter(({ risk }) => risk), ...rows.filter(({ risk }) => !risk)];
  return order.map(({ line }) => showInvisible(line));
}
