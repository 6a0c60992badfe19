import {
  type AnyToolRegistry,
  type GuardDecision,
  type GuardedCall,
  type Middleware,
  ToolError,
  type ToolOutcome,
} from "@toolcrib/core";
import { oneLine } from "@toolcrib/core/internal";
import { messageOf, withoutControls } from "@toolcrib/core/text";
import { usageError } from "../exitReasons.ts";
import { readDuration } from "../flags.ts";
import type { Host } from "../host.ts";
import { runShellLine } from "./runShellLine.ts";

/** A command that runs around calls or turns, as the configuration has it. */
interface Hook {
  /** Tools that it is for; default: all. A `*` at the end stands for any rest. */
  readonly tools?: readonly string[] | undefined;
  readonly command: string;
  /** Default: 10s. */
  readonly timeout?: string | undefined;
}

export interface HookSettings {
  readonly "hooks.beforeCall"?: readonly Hook[] | undefined;
  readonly "hooks.afterCall"?: readonly Hook[] | undefined;
  readonly "hooks.turnEnd"?: readonly Hook[] | undefined;
}

const defaultTimeout = "10s";
const mostWords = 4000;

interface HookPlace {
  /** The directory that the hooks run in, and name to what they run. */
  readonly cwd: string;
  readonly host: Host;
  note(text: string): void;
}

export function createHooks(settings: HookSettings, place: HookPlace): Hooks | undefined {
  return Object.keys(settings).some((key) => key.startsWith("hooks.")) ? new Hooks(settings, place) : undefined;
}

/** Runs the user's hooks. One that fails before a call refuses it, as a guard that fails does; elsewhere it is one line. */
export class Hooks {
  readonly #settings: HookSettings;
  readonly #place: HookPlace;

  constructor(settings: HookSettings, place: HookPlace) {
    this.#settings = settings;
    this.#place = place;
  }

  /** Decides about a call of a model that no rule refuses: true, or why it does not run. Without an id it is one of the program's own. */
  async decide({ name, args, callId, signal }: GuardedCall): Promise<GuardDecision> {
    for (const hook of callId === undefined ? [] : this.#of("beforeCall", name)) {
      const end = await this.#run(hook, { event: "beforeCall", tool: name, args }, signal);
      if (end.problem !== undefined) return `${end.problem}, so the call is refused`;
      if (end.words !== undefined) return end.words || `the hook ${nameOf(hook)} denied it`;
    }
    return true;
  }

  /** Runs the hooks after a call that has run, and adds their words for the model. */
  readonly middleware: Middleware = async (call, next) => {
    const hooks = call.callId === undefined ? [] : this.#of("afterCall", call.name);
    if (hooks.length === 0) return next();
    let ran: Readonly<Record<string, unknown>> | undefined;
    const outcome = await next({
      ...call,
      beforeRun: async (args) => {
        await call.beforeRun?.(args);
        ran = args;
      },
    });
    const said: string[] = [];
    for (const hook of ran === undefined ? [] : hooks) {
      const output = outcome.ok ? outcome.output : outcome.error.message;
      const about = { event: "afterCall", tool: call.name, args: ran, output, isError: !outcome.ok };
      if (call.signal?.aborted) break;
      const end = await this.#run(hook, about, call.signal);
      if (call.signal?.aborted) break;
      if (end.problem !== undefined) this.#place.note(`${end.problem}.`);
      else if (end.words) said.push(end.words);
    }
    return said.length === 0 ? outcome : withWords(outcome, said.join("\n"));
  };

  async turnEnded(reason: string, signal: AbortSignal): Promise<void> {
    for (const hook of this.#settings["hooks.turnEnd"] ?? []) {
      const end = await this.#run(hook, { event: "turnEnd", reason }, signal);
      if (end.problem !== undefined) this.#place.note(`${end.problem}.`);
      else if (end.words) this.#place.note(end.words);
    }
  }

  /** Throws a usage error for a hook of a tool that is not there: it would never run. Tools of servers may be there in another run. */
  checkTools(registry: AnyToolRegistry): void {
    for (const name of [...this.#of("beforeCall"), ...this.#of("afterCall")].flatMap(({ tools = [] }) => tools)) {
      if (!name.endsWith("*") && !name.startsWith("mcp__") && !registry.hasTool(name))
        throw usageError(`hooks: there is no tool ${oneLine(name, 64)}; toolcrib tools list shows them`);
    }
  }

  /** Lists the hooks of an event, or those for one tool. */
  #of(event: "beforeCall" | "afterCall", tool?: string): readonly Hook[] {
    const isIts = (name: string): boolean =>
      tool === undefined || (name.endsWith("*") ? tool.startsWith(name.slice(0, -1)) : name === tool);
    return (this.#settings[`hooks.${event}`] ?? []).filter(({ tools }) => tools === undefined || tools.some(isIts));
  }

  /** Returns the words of a hook that ended with 2, or what went wrong with it. */
  async #run(
    hook: Hook,
    about: object,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly words?: string; readonly problem?: string }> {
    const { command, timeout = defaultTimeout } = hook;
    const { cwd, host } = this.#place;
    const limit = AbortSignal.timeout(readDuration(timeout, "hooks: timeout"));
    let words = "";
    try {
      const { code, signal: ended } = await runShellLine({
        command,
        cwd,
        host,
        input: `${JSON.stringify({ ...about, cwd })}\n`,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        killSignal: "SIGKILL",
        onOutput(text, stream) {
          if (stream === "stderr") words = (words + text).slice(0, mostWords);
        },
      });
      if (code === 0) return {};
      if (code === 2) return { words: withoutControls(words).trim() };
      const how = limit.aborted
        ? `did not end within ${timeout}`
        : code === null
          ? `was ended by ${ended}`
          : `ended with ${code}`;
      const last = words.trim().split("\n").at(-1) ?? "";
      return { problem: `the hook ${nameOf(hook)} ${how}${last === "" ? "" : ` (${oneLine(last, 200)})`}` };
    } catch (error) {
      return { problem: `the hook ${nameOf(hook)} could not be started (${oneLine(messageOf(error), 200)})` };
    }
  }
}

function nameOf({ command }: Hook): string {
  return `\`${oneLine(command, 80)}\``;
}

function withWords(outcome: ToolOutcome, words: string): ToolOutcome {
  const added = `\n\n[a hook of the user says: ${words}]`;
  if (outcome.ok) return { ...outcome, output: `${outcome.output}${added}` };
  const { code, message, toolName, details, recoverable } = outcome.error;
  return { ok: false, error: new ToolError({ code, message: `${message}${added}`, toolName, details, recoverable }) };
}
