/** The tools of the workers: what each may do when nobody knows whether it has run. */
export const toolNames = ["look_up", "put", "charge"] as const;

export type ToolName = (typeof toolNames)[number];

/** The calls of each reply, in order. The last reply has none: it is the answer. */
export type Plan = readonly (readonly ToolName[])[];

/** 4 replies and 4 calls. */
const short: Plan = [["look_up"], ["look_up", "put"], ["charge"], []];

/** 10 replies and 10 calls, three of which must not happen twice. */
const long: Plan = [
  ["look_up"],
  ["put"],
  ["charge"],
  ["look_up", "look_up"],
  ["put"],
  ["charge"],
  ["look_up"],
  ["put"],
  ["charge"],
  [],
];

export const plans = { short, long } as const;

export type PlanName = keyof typeof plans;

export interface PlannedCall {
  readonly id: string;
  readonly name: ToolName;
}

/** The calls of reply `n`, which counts from 1. */
export function callsOf(plan: Plan, n: number): readonly PlannedCall[] {
  return (plan[n - 1] ?? []).map((name, index) => ({ id: `call_${n}_${index + 1}`, name }));
}

/** The names of the steps of a run, by the order in which a reply and its calls follow each other. */
export function stepsOf(plan: Plan): readonly (readonly string[])[] {
  return plan.flatMap((_, index) => {
    const calls = callsOf(plan, index + 1).map(({ id }) => `call:${id}`);
    return [[`reply:${index + 1}`], ...(calls.length > 0 ? [calls] : [])];
  });
}

export const taskOf = (job: string): string => `Do ${job}.`;

/** Makes the answer of a tool. It depends on nothing but its call, so that a lost or exchanged result shows. */
export const resultOf = (job: string, call: PlannedCall): string => `${call.name} of ${job} at ${call.id}`;

/** The answer of a run, which tells how many of its calls may have run or not. */
export const answerOf = (job: string, unknown: number): string => `${job} is done, ${unknown} calls unknown.`;

/** A number from 0 to 1 that depends on the words alone. */
export function fraction(...words: readonly (string | number)[]): number {
  let hash = 2_166_136_261;
  for (const character of words.join(" ")) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_519);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** Milliseconds since 1970 with fractions, the same clock in every process of this machine. */
export const now = (): number => performance.timeOrigin + performance.now();
