import { messageOf } from "@toolcrib/core/text";
import { compilePathPatterns, type PathPatterns, readPatternList, refuseChoices } from "@toolcrib/kit/files";
import { serverPrefix } from "@toolcrib/kit/text";
import type { Decision } from "../verdict.ts";
import { type EffectKind, parseRule, type Rule } from "./parseRule.ts";
import { type CommandPattern, compileHostPattern, type HostPattern, parseCommandPattern } from "./patterns.ts";

/** The directories that path patterns start from. */
export interface PathBases {
  readonly roots: readonly string[];
  readonly home: string | undefined;
}

/** The rules of one list that bind one tool, or one kind of effect. */
export interface RuleGroup {
  /** Rules without a pattern: they match whatever the call does. */
  readonly bare: readonly Rule[];
  /** Rules with a pattern, whatever it is for. */
  readonly patterned: readonly Rule[];
  readonly paths: PathPatterns | undefined;
  /** Returns the same without some patterns. */
  pathsWithout(leftOut: ReadonlySet<string>): PathPatterns | undefined;
  /** The rule that a pattern of paths came from. */
  readonly byPattern: ReadonlyMap<string, Rule>;
  readonly commands: readonly { readonly rule: Rule; readonly pattern: CommandPattern }[];
  /** The first rule whose pattern is none of commands, so that it cannot be tested against one. */
  readonly notOfCommands: Rule | undefined;
  readonly hosts: readonly { readonly rule: Rule; readonly matches: HostPattern }[];
  /** The same for hosts. */
  readonly notOfHosts: Rule | undefined;
}

/** A list of rules, found by what they bind. */
export interface RuleList {
  readonly list: Decision;
  /** Lists the groups that bind a tool: its own, and that of its server. */
  ofTool(tool: string, origin: string): readonly RuleGroup[];
  ofEffect(kind: EffectKind): RuleGroup | undefined;
  /** The rules about effects on files and hosts, whatever their kind; undefined where there are none. */
  readonly ofNames: RuleGroup | undefined;
}

/** The groups of rules, of each list, that bind an effect. */
export type Groups = Readonly<Record<Decision, readonly RuleGroup[]>>;

const mostRules = 10_000;

/** Throws a TypeError for a list that is not an array of rules, naming the malformed one. */
export function compileRules(list: Decision, texts: unknown, bases: PathBases): RuleList {
  if (!Array.isArray(texts))
    throw new TypeError(`${list} must be an array of rules, such as ["read_file", "write_file(src/)"]`);
  if (texts.length > mostRules) throw new RangeError(`${list} has more than ${mostRules} rules`);
  const rules = [...new Set(texts)].map((text) => parseRule(text, list));
  const compile = (chosen: readonly Rule[]): RuleGroup => compileGroup(list, chosen, bases);
  const groupsOf = (binds: Rule["binds"]): ReadonlyMap<string, RuleGroup> =>
    new Map([...grouped(rules, binds)].map(([subject, chosen]) => [subject, compile(chosen)]));
  const [tools, servers, kinds] = [groupsOf("tool"), groupsOf("server"), groupsOf("effect")];
  const ofNames = rules.filter((rule) => rule.binds === "effect" && rule.kind !== "execute");
  return {
    list,
    ofTool(tool, origin) {
      const own = tools.get(tool);
      const found = own === undefined ? [] : [own];
      for (const [prefix, group] of servers) {
        // To allow, the origin counts: a server named `a` may call its tool `b__c`, which is mounted as that of a server `a__b` is.
        if (tool.startsWith(prefix) && (list !== "allow" || prefixOf(origin) === prefix)) found.push(group);
      }
      return found;
    },
    ofEffect: (kind) => kinds.get(kind),
    ofNames: ofNames.length === 0 ? undefined : compile(ofNames),
  };
}

/** Returns the prefix of the names of a server's tools; undefined for tools that are not of a server. */
function prefixOf(origin: string): string | undefined {
  return origin.startsWith("mcp:") ? serverPrefix(origin.slice("mcp:".length)) : undefined;
}

/** Returns the rules that bind tools, servers or effects, by their names. */
function grouped(rules: readonly Rule[], binds: Rule["binds"]): ReadonlyMap<string, readonly Rule[]> {
  const groups = new Map<string, Rule[]>();
  for (const rule of rules.filter((one) => one.binds === binds)) {
    const subject = rule.binds === "tool" ? rule.tool : rule.binds === "server" ? rule.prefix : rule.kind;
    groups.set(subject, [...(groups.get(subject) ?? []), rule]);
  }
  return groups;
}

function compileGroup(list: Decision, rules: readonly Rule[], bases: PathBases): RuleGroup {
  const patterned = rules.filter((rule) => rule.pattern !== undefined);
  const parsed = patterned.map((rule) => readPattern(list, rule, bases));
  const paths = parsed.flatMap((one) => one.paths);
  const compiled = paths.length === 0 ? undefined : compilePaths(list, paths, bases);
  return {
    bare: rules.filter((rule) => rule.pattern === undefined),
    patterned,
    paths: compiled,
    pathsWithout(leftOut) {
      if (compiled === undefined || !paths.some((path) => leftOut.has(path))) return compiled;
      const left = paths.filter((path) => !leftOut.has(path));
      return left.length === 0 ? undefined : compilePaths(list, left, bases);
    },
    byPattern: new Map(parsed.flatMap((one) => one.paths.map((path) => [path, one.rule]))),
    commands: parsed.flatMap(({ rule, command }) => (command === undefined ? [] : [{ rule, pattern: command }])),
    notOfCommands: parsed.find(({ command }) => command === undefined)?.rule,
    hosts: parsed.flatMap(({ rule, host }) => (host === undefined ? [] : [{ rule, matches: host }])),
    notOfHosts: parsed.find(({ host }) => host === undefined)?.rule,
  };
}

interface ReadPattern {
  readonly rule: Rule;
  readonly paths: readonly string[];
  readonly command?: CommandPattern | undefined;
  readonly host?: HostPattern | undefined;
}

/**
 * Reads a pattern, whose meaning follows from the kind of effect, and for `run_bash`. For any other tool it must be a pattern of paths, or
 * of commands that quotes tell apart from one, and is one of commands or hosts too where it can be.
 */
function readPattern(list: Decision, rule: Rule, bases: PathBases): ReadPattern {
  const pattern = rule.pattern ?? "";
  const fail = (why: string): TypeError => new TypeError(`${list}: ${JSON.stringify(rule.text)} is malformed: ${why}`);
  const [command, host] = [parseCommandPattern(pattern), compileHostPattern(pattern)];
  const kind =
    rule.binds === "effect" ? rule.kind : rule.binds === "tool" && rule.tool === "run_bash" ? "execute" : undefined;
  if (kind === "execute") {
    if (typeof command === "string") throw fail(command);
    return { rule, paths: [], command };
  }
  if (kind === "network") {
    if (typeof host === "string") throw fail(host);
    return { rule, paths: [], host };
  }
  const paths = readPatternList(list, [pattern]);
  try {
    // What lies on a remote cannot be looked at.
    if (bases.home !== undefined) refuseChoices(paths, bases);
    compilePaths(list, paths, bases);
  } catch (error) {
    // Words in quotes are those of a command.
    if (kind === undefined && typeof command !== "string" && /['"]/.test(pattern)) return { rule, paths: [], command };
    throw fail(messageOf(error));
  }
  if (kind !== undefined) return { rule, paths };
  return {
    rule,
    paths,
    command: typeof command === "string" ? undefined : command,
    host: typeof host === "string" ? undefined : host,
  };
}

/** Compiles paths. Deny and ask are wider than allow: they ignore case, and follow links that are in a pattern. */
function compilePaths(list: Decision, patterns: readonly string[], { roots, home }: PathBases): PathPatterns {
  const wide = list !== "allow";
  return compilePathPatterns(patterns, { roots, home, ignoreCase: wide, missingMatches: wide, followLinks: wide });
}

/** Finds the rule that matches an effect whatever its pattern would be tested against. */
export function bareRule(groups: readonly (RuleGroup | undefined)[]): Rule | undefined {
  for (const group of groups) if (group?.bare[0] !== undefined) return group.bare[0];
  return undefined;
}
