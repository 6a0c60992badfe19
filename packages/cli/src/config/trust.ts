import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { clip, showInvisible } from "@toolcrib/core/text";
import type { Trust } from "@toolcrib/kit/files";
import { redactUrls } from "@toolcrib/kit/text";
import type { Program } from "../program.ts";
import type { ConfigContent } from "./configFile.ts";
import { describeLeftOut, type ProjectFile, type ProjectFiles, readProjectFiles } from "./projectFiles.ts";
import type { Settings } from "./settings.ts";
import { projectConfigName, settings } from "./settings.ts";

/** The user's answers about what one folder brings along. A yes holds for that folder, links followed, and that text. */
export interface FolderTrust {
  of(text: string): Promise<Trust>;
  /** Resolves to true if the last answer was a yes, to whatever text. */
  wasTrusted(): Promise<boolean>;
  /** Keeps a yes or a no to this text; without one the folder is forgotten. */
  save(text?: string, isTrusted?: boolean): Promise<void>;
}

export function trustIn({ trust }: Pick<Program, "trust">, kind: "project" | "skills", folder: string): FolderTrust {
  const place = realpathSync(folder);
  const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
  return {
    of: (text) => trust.of(kind, place, digestOf(text)),
    wasTrusted: () => trust.wasTrusted(kind, place),
    save: (text, isTrusted) => trust.save(kind, place, text === undefined ? undefined : digestOf(text), isTrusted),
  };
}

/**
 * Returns what a yes to a project is bound to: its configuration, the files that it brings along, and the names of those that are left out.
 * Undefined if files of hooks are left out: nothing would bind what they do.
 */
export function trustedText(configuration: string | undefined, { files, leftOut }: ProjectFiles): string | undefined {
  const names = leftOut.map(({ path }) => path);
  if (names.some((name) => /^hooks\b/.test(name))) return undefined;
  if (files.length + names.length === 0) return configuration ?? "";
  return JSON.stringify([configuration ?? "", files, ...(names.length > 0 ? [names] : [])]);
}

/** The things that a directory brings along, as they are now. */
export interface Project {
  /** Names it for people; empty if there is nothing that can be used. */
  readonly name: string;
  readonly values: Settings;
  readonly files: readonly ProjectFile[];
  /** Names what is left out, in one line; undefined if nothing is. */
  readonly leftOut: string | undefined;
  /** Binds a yes; undefined if none can be given. */
  readonly text: string | undefined;
  readonly changes: readonly string[];
}

/** Reads what a directory brings along beside its configuration. */
export function readProject(directory: string, config: ConfigContent | undefined): Project {
  const found = readProjectFiles(directory);
  const { text, values = {} } = config ?? {};
  const names = [...(config ? [projectConfigName] : []), ...(found.files.length > 0 ? [".toolcrib"] : [])];
  return {
    name: names.join(" and "),
    values,
    files: found.files,
    leftOut: describeLeftOut(found.leftOut),
    text: trustedText(text, found),
    changes: describeChanges(values, found.files),
  };
}

/** Returns the user's answer about a project; `unbound` if no answer can be bound to it. */
export async function projectAnswer(
  { trust, cwd }: Pick<Program, "trust" | "cwd">,
  { text }: Pick<Project, "text">,
): Promise<Trust | "unbound"> {
  return text === undefined ? "unbound" : trustIn({ trust }, "project", cwd).of(text);
}

/** Keeps the settings that hold without trust: a `deny` rule only narrows. An `ask` rule can turn a refusal into a question. */
export function untrusted(values: Settings): Settings {
  return "deny" in values ? { deny: values.deny } : {};
}

/** Lists what a project's configuration and files would change, a line each, the risky first. Empty if trust changes nothing. */
export function describeChanges(values: Settings, files: readonly ProjectFile[] = []): string[] {
  const rows = Object.entries(values)
    .filter(([key]) => !(key in untrusted(values)))
    .map(([key, value]) => {
      const risk = settings[key]?.risk?.(value);
      const shown = typeof value === "string" ? redactUrls(value) : value;
      return { risk, line: `${risk ? "!" : " "} ${key}: ${JSON.stringify(shown)}${risk ? ` (${risk})` : ""}` };
    });
  for (const { path, text } of files) rows.push(describeFile(path, text));
  rows.sort((a, b) => Number(b.risk !== undefined) - Number(a.risk !== undefined));
  return rows.map(({ line }) => showInvisible(line));
}

function describeFile(path: string, text: string): { readonly risk: string | undefined; readonly line: string } {
  const [, command] = /^commands\/(.*)\.md$/s.exec(path) ?? [];
  const shown = JSON.stringify(clip(text.trim().replace(/\s+/g, " "), 160));
  const risk = command === undefined ? "hooks may run it with all your rights" : undefined;
  const what = command === undefined ? `.toolcrib/${path}` : `/${command} in chat`;
  return { risk, line: `${risk ? "!" : " "} ${what}: ${shown}${risk ? ` (${risk})` : ""}` };
}
