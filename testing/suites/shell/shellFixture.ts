import { readdirSync, readFileSync } from "node:fs";
import { createRunBashTool } from "../../../packages/tools-bash/src/runBash.ts";

/** TOOLCRIB_ROUNDS=1000 is the full size of these suites. */
export const rounds: number = Number(process.env.TOOLCRIB_ROUNDS ?? 100);

export const onLinux: boolean = process.platform === "linux";

/** Set in the environment of every command of this run, so that processes left behind are found independently of the tool. */
export const runMark = `toolcrib-suite-${process.pid}-${Date.now()}`;

export interface Answer {
  stdout: string;
  stderr: string;
  exit_code: number;
}

const tool = createRunBashTool();

export async function run(command: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
  return JSON.parse(await tool.execute({ command, env: { SUITE_MARK: runMark }, ...args }, { signal })) as Answer;
}

/** Live processes that this run's commands started: by environment, or by `argument` in their command line. */
export function survivors(argument?: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const environment = read(pid, "environ");
      return environment.includes(`SUITE_MARK=${runMark}`) || (argument && read(pid, "cmdline").includes(argument));
    })
    .map((pid) => `${pid} ${read(pid, "cmdline").replaceAll("\0", " ")}`);
}

export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
