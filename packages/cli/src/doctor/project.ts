import { resolve } from "node:path";
import { comparePackages, describeComparison, findProject, packagesIn } from "@toolcrib/contracts";
import { oneLine } from "@toolcrib/core/internal";
import { fileConsents, checkServers as lookAtServers } from "@toolcrib/mcp/config";
import { checkRules, projectConfig, userConfig } from "../config/configFile.ts";
import { projectAnswer, readProject } from "../config/trust.ts";
import { messageOf } from "../explain.ts";
import { serversFile } from "../tools/mcpMount.ts";
import { ownLogins } from "../tools/ownLogins.ts";
import { ownToolStore } from "../tools/ownToolStore.ts";
import type { Check, CheckResult, Finding } from "./check.ts";

export const checkConfig: Check = async ({ folders, trust, cwd }) => {
  const findings: Finding[] = [];
  for (const file of [userConfig(folders), projectConfig(cwd)]) {
    try {
      const content = await file.read();
      if (content) await checkRules(content.values, file);
      const project = file.name === file.path ? undefined : readProject(cwd, content);
      if (project?.leftOut !== undefined) findings.push({ level: "warning", text: project.leftOut });
      if (project && project.changes.length > 0 && (await projectAnswer({ trust, cwd }, project)) !== "trusted") {
        const advice =
          project.text === undefined
            ? "correct or remove its hooks that are left out"
            : "toolcrib config trust shows it and uses it";
        findings.push({ level: "warning", text: `${project.name} is not trusted, so it is not used`, advice });
      } else findings.push({ level: "ok", text: `${file.name} ${content ? "is valid" : "is not there"}` });
    } catch (error) {
      findings.push({ level: "problem", text: messageOf(error) });
    }
  }
  return { findings, data: undefined };
};

/** Starts each MCP server that may start, asks it for its tools and ends it. */
export const checkServers: Check = async (program, signal) => {
  const { env, folders, trust, cwd } = program;
  try {
    const [user, project] = [await serversFile(program, true).read(), await serversFile(program).read()];
    const checks = await lookAtServers(project, {
      user,
      consents: fileConsents(trust, cwd),
      store: ownToolStore(cwd, program),
      logins: ownLogins(folders),
      environment: env,
      signal,
    });
    const findings = checks.map(({ isOk, problems, text, advice }): Finding => {
      const level = isOk ? "ok" : problems.length > 0 ? "problem" : "warning";
      return { level, text: oneLine(text, 500), advice: advice && oneLine(advice, 200) };
    });
    if (checks.length === 0) findings.push({ level: "note", text: "no MCP servers" });
    return { findings, data: checks.map(({ server, isOk, tools }) => ({ server, isOk, tools: tools.length })) };
  } catch (error) {
    signal.throwIfAborted();
    return { findings: [{ level: "problem", text: messageOf(error) }], data: [] };
  }
};

/** Checks which versions of the packages are installed in the project; what an upgrade would change takes the network. */
export const checkPackages: Check = async ({ cwd }) => {
  const packages = [...(findProject(cwd)?.packages ?? [])];
  const findings = packages.map(
    ([name, found]): Finding =>
      "version" in found
        ? { level: "ok", text: `${name} ${found.version}` }
        : { level: "problem", text: `${name} is incomplete: ${found.message}`, advice: "install again: npm install" },
  );
  const advice = "install the newer versions in another folder: toolcrib contracts FOLDER says what they would change";
  findings.push(
    packages.length === 0
      ? { level: "note", text: "no toolcrib package is installed in this directory or above" }
      : { level: "note", text: "only the versions were checked", advice },
  );
  const data = packages.map(([name, found]) => ({
    package: name,
    ...("version" in found ? { version: found.version } : { problem: found.message }),
  }));
  return { findings, data };
};

/** Compares what a project has installed with what `newer` has, another folder: tools, arguments, words, tokens. */
export function checkContracts(cwd: string, newer: string): CheckResult {
  const problem = (text: string, advice: string): CheckResult => ({
    findings: [{ level: "problem", text, advice }],
    data: [],
  });
  const project = findProject(cwd);
  if (!project) {
    const text =
      "No toolcrib package is installed here: there is no node_modules/@toolcrib in this directory or above.";
    return problem(text, "go to your project, or run npm install there");
  }
  const others = packagesIn(resolve(cwd, newer));
  if (others.size === 0) {
    const text = `No toolcrib package is installed in ${oneLine(newer)}: there is no node_modules/@toolcrib in it.`;
    return problem(text, "install the other version there: npm install --ignore-scripts --prefix FOLDER PACKAGE");
  }
  const { ranges } = project;
  const data = comparePackages(project, others);
  const notes = "message" in ranges ? [oneLine(`the ranges are not known: ${ranges.message}`, 1000)] : [];
  return {
    findings: [
      ...notes.map((text): Finding => ({ level: "note", text })),
      ...data.map((comparison) => describeComparison(comparison, !("message" in ranges))),
    ],
    data,
  };
}
