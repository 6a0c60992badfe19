import { isObject } from "../isObject.ts";
/** Collects the problems of a request, in words. The three checkers share it. */
export class Problems {
  readonly list: string[] = [];

  add(problem: string): void {
    this.list.push(problem);
  }

  /** Adds the problem unless the condition holds. Returns whether it held. */
  expect(condition: boolean, problem: string): boolean {
    if (!condition) this.add(problem);
    return condition;
  }

  /** Checks for a JSON object that has the `required` fields and no fields but those named. */
  object(value: unknown, at: string, required: readonly string[], optional: readonly string[]): value is Fields {
    if (!this.expect(isObject(value), `${at} is not an object`)) return false;
    const fields = value as Fields;
    for (const name of required) this.expect(fields[name] !== undefined, `${at} lacks ${name}`);
    for (const name of Object.keys(fields)) {
      this.expect(required.includes(name) || optional.includes(name), `${at} has the unknown field ${name}`);
    }
    return true;
  }

  text(value: unknown, at: string): value is string {
    return this.expect(typeof value === "string" && value !== "", `${at} is not text`);
  }

  name(value: unknown, at: string): void {
    this.expect(
      typeof value === "string" && legalName.test(value),
      `${at} is the illegal name ${JSON.stringify(value)}`,
    );
  }

  id(value: unknown, at: string, taken: Set<string>): void {
    if (
      !this.expect(
        typeof value === "string" && legalName.test(value),
        `${at} is the illegal id ${JSON.stringify(value)}`,
      )
    )
      return;
    this.expect(!taken.has(value as string), `${at} is the id ${value} again`);
    taken.add(value as string);
  }

  /** JSON text of an object. */
  argumentsText(value: unknown, at: string): void {
    try {
      this.expect(isObject(JSON.parse(value as string)), `${at} is not a JSON object`);
    } catch {
      this.add(`${at} is not JSON`);
    }
  }
}

export type Fields = Record<string, unknown>;

const legalName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The entries of an array. For anything else it adds a problem and returns none. */
export function listOf(problems: Problems, value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  problems.add(`${at} is not an array`);
  return [];
}

/** Returns whether no string in it holds half of a surrogate pair. */
export function isWellFormed(value: unknown): boolean {
  return !/\p{Surrogate}|\\u[dD][89a-fA-F]/u.test(JSON.stringify(value) ?? "");
}
