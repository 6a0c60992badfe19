/** Values by key: `sessions.keepDays` is the key of one inside another. */
export type Settings = Readonly<Record<string, unknown>>;

/** The file in which a directory says how toolcrib is to work there. */
export const projectConfigName = ".toolcrib.json";

/**
 * The facts about a key of the configuration beside its schema. The key, or its last part, is the name of the option that it stands for.
 */
interface Setting {
  /** Rules of permissions: those of all sources and of the flags hold together. */
  readonly addsUp?: true;
  /** A project cannot set it. */
  readonly isUserOnly?: true;
  /** Commands in which it holds without a flag. */
  readonly commands?: readonly string[];
  /** Commands that have the flag but not the setting: there the user has named the call, or the client decides. */
  readonly except?: readonly string[];
  /** Says why this value could harm, if a project sets it. */
  risk?(value: unknown): string | undefined;
}

const hook: Setting = {
  addsUp: true,
  commands: ["run", "chat", "acp"],
  risk: () => "these commands run with all your rights, and can run any file of this folder",
};

const reachesFar = (names: unknown): string | undefined =>
  [names].flat().some((name) => name === "run_bash" || name === "remove")
    ? "the model gets tools that are off by default: they run commands or remove files"
    : undefined;

/** Every key, in the order in which they are listed. */
export const settings: Readonly<Record<string, Setting>> = {
  model: { risk: () => "your requests, and the files that are read for them, go to this service" },
  baseUrl: { risk: () => "your key and your requests go to this address" },
  reasoning: {},
  cacheTtl: {},
  mode: {
    except: ["call", "serve"],
    risk: (mode) =>
      mode === "full"
        ? "every call runs without a question, unless a rule or a protected path prevents it"
        : mode === "accept-edits"
          ? "files are changed without a question"
          : undefined,
  },
  allow: { addsUp: true, risk: () => "these calls run without a question" },
  ask: { addsUp: true },
  deny: { addsUp: true },
  tools: { risk: reachesFar },
  enable: { risk: reachesFar },
  disable: { addsUp: true },
  maxSteps: {},
  maxCost: { risk: () => "a run may cost this much" },
  timeout: {},
  mcp: { except: ["list", "call", "cost"] },
  shell: { risk: (shell) => (shell === "sh" || shell === "bash" ? undefined : "commands are run by this program") },
  sandbox: { risk: (sandbox) => (sandbox === false ? "commands run with all your rights" : undefined) },
  sandboxAllow: { risk: () => "commands in the sandbox can reach or change them" },
  contextFiles: {},
  skills: {},
  "hooks.beforeCall": hook,
  "hooks.afterCall": hook,
  "hooks.turnEnd": hook,
  "sessions.keepDays": { isUserOnly: true },
  "sessions.keepMegabytes": { isUserOnly: true },
  color: { isUserOnly: true },
};

export interface Source {
  readonly name: string;
  /** False for a project that the user does not trust: a mistake in it ends nothing. */
  readonly isTrusted?: boolean;
  readonly values: Settings;
}

export interface Found {
  readonly value: unknown;
  readonly from: string;
}

/** Finds the value of a key; the nearest source comes first. */
export function findSetting(sources: readonly Source[], key: string): Found | undefined {
  // The address of another model's provider would get the key of this one.
  const asked = key === "baseUrl" ? sources.filter(({ values }) => "model" in values).slice(0, 1) : sources;
  const found = asked.filter(({ values }) => Object.hasOwn(values, key));
  const [first] = found;
  if (!first) return undefined;
  if (!settings[key]?.addsUp) return { value: first.values[key], from: first.name };
  return { value: found.flatMap(({ values }) => values[key]), from: found.map(({ name }) => name).join(", ") };
}
