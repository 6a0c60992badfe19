import { AsyncLocalStorage } from "node:async_hooks";
import { type AnyToolRegistry, defineTool, type ExecutableTool } from "@toolcrib/core";
import { callableTools, isCallable, isReadOnly, type MayCall } from "./callable.ts";
import { describeProgram } from "./description.ts";
import { type ProgramOptions, programSettings } from "./options.ts";
import { digest, engineDigest } from "./programLog.ts";
import { runProgram } from "./runProgram.ts";

/** Set within the calls of a program: one of them may run another program, of an agent's own tools for example. */
const within = new AsyncLocalStorage<true>();

/**
 * Creates `run_program`, which runs JavaScript that calls the tools of the registry in which it is called: every call goes through `invoke`
 * there, with its guards. `registry` is only read, for the declarations that the model gets, when the tool is registered: so make and
 * register it last.
 */
export function createProgramTools(registry: AnyToolRegistry, options: ProgramOptions = {}): ExecutableTool[] {
  const settings = programSettings(options);
  const isChosen: MayCall = (tool) => isCallable(tool, settings.tools);
  // A tool for programs may write; without one, and without a choice of the caller's, a program changes nothing, and keeps to that.
  const readOnly = settings.tools === undefined && callableTools(registry, isChosen).every(isReadOnly);
  const mayCall: MayCall = readOnly ? (tool) => isChosen(tool) && isReadOnly(tool) : isChosen;
  const tool = defineTool({
    name: "run_program",
    description: "Runs a program.",
    parameters: {
      type: "object",
      properties: { code: { type: "string", description: "JavaScript: the body of an async function" } },
      required: ["code"],
      additionalProperties: false,
    },
    origin: "@toolcrib/tools-program",
    ...(readOnly && { readOnly }),
    timeoutMs: Number.POSITIVE_INFINITY,
    // Its own calls are guarded one by one.
    effects: () => [],
    execute({ code }, call) {
      const isInner = within.getStore() === true;
      return within.run(true, () => runProgram({ code, call, settings, mayCall, isInner }));
    },
  });
  const { name, parameters } = tool.getSchema().function;
  const getSchema = (): ReturnType<ExecutableTool["getSchema"]> => {
    return {
      type: "function",
      function: { name, description: describeProgram(registry, settings, mayCall), parameters },
    };
  };
  const recordVersion = (): string => digest(`${engineDigest()}\n${settings.maxConcurrent}`);
  return [
    {
      ...tool,
      composite: true,
      getSchema,
      // Made when it is asked for: most never ask.
      get recordVersion() {
        return recordVersion();
      },
    },
  ];
}
