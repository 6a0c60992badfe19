import { checkValues, type OptionSpec, type OptionSpecs, option, readOptions } from "@toolcrib/core/internal";
import type { AgentSession, DurableSession, PageOptions, PageSession } from "./sessions.ts";

/** The longest time that a timer takes: it ends a longer one at once. */
const mostMs = 2 ** 31 - 1;

const lingerMs: OptionSpec = {
  expected: `a number of milliseconds from 0 to ${mostMs.toLocaleString("en-US")}`,
  fits: (value) => typeof value === "number" && value >= 0 && value <= mostMs,
  isShown: true,
};

const origins: OptionSpec = {
  ...option.texts,
  expected: 'an array of origins, such as ["https://app.example"], without a path or a slash at the end',
  fits: (value) => Array.isArray(value) && value.every(isOrigin),
};

function isOrigin(value: unknown): boolean {
  const origin = typeof value === "string" ? URL.parse(value)?.origin : undefined;
  // Of an extension of a browser, for one.
  if (origin === "null") return /^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+$/.test(String(value));
  return origin !== undefined && origin === value;
}

const needed = { needed: "always" } as const;

const pageOptions = {
  open: { ...option.call, ...needed },
  lingerMs,
  maxBytes: option.bytes,
  origins,
  explain: option.call,
} satisfies OptionSpecs<PageOptions>;

const agentSession: OptionSpecs<AgentSession> = {
  journal: { ...option.name, ...needed },
  agent: { ...option.call, ...needed },
  labels: option.plain,
  policy: option.withMethods("remember"),
  close: option.call,
};

const durableSession: OptionSpecs<DurableSession> = {
  runs: { ...option.withMethods("get", "approve", "send", "cancel"), ...needed },
  run: { ...option.name, ...needed },
};

/** Throws a TypeError for an option that cannot be meant. */
export function readPageOptions(options: PageOptions): PageOptions {
  return readOptions("new PageSessions", options, pageOptions);
}

/** Throws a TypeError for a session that cannot be meant. */
export function checkSession(session: PageSession): void {
  checkValues("open", session, "runs" in session ? durableSession : agentSession);
}
