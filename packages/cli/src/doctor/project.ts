import { findProject } from "@toolcrib/contracts";
import { oneLine } from "@toolcrib/core/internal";
import { fileConsents, checkServers as lookAtServers } from "@toolcrib/mcp/config";
import { checkRules, projectConfig, userConfig } from "../config/configFiles.ts";
import { describeLeftOut, readProjectFiles } from "../config/projectFiles.ts";
import { describeChanges, nameProjectFiles, projectAnswer, trustedText } from "../config/trust.ts";
import { messageOf } from "../explain.ts";
import { serversFile } from "../tools/mcpMount.ts";
import { ownLogins } from "../tools/ownLogins.ts";
import { ownToolStore } from "../tools/ownToolStore.ts";
import type { Check, Finding } from "./check.ts";

/** Checks the two configuration files: whether they are valid, and trusted. */
export const checkConfig: Check = async ({ folders, trust, cwd }) => {
  const findings: Finding[] = [];
  for (const file of [userConfig(folders), projectConfig(cwd)]) {
    try {
      const content = await file.read();
      if (content) await checkRules(content.values, file);
      const files = file.name === file.path ? { files: [], leftOut: [] } : readProjectFiles(cwd);
      const leftOut = describeLeftOut(files.leftOut);
      if (leftOut !== undefined) findings.push({ level: "warning", text: leftOut });
      const changes = file.name === file.path ? [] : describeChanges(content?.values ?? {}, files.files);
      const text = trustedText(content?.text, files);
      const isUsed = changes.length === 0 || (await projectAnswer({ trust, cwd }, text)) === "trusted";
      if (!isUsed) {
        const isBound = text !== undefined;
        const advice = isBound
          ? "toolcrib config trust shows it and uses it"
          : "correct or remove its hooks that are left out";
        const name = nameProjectFiles(content !== undefined, files);
        findings.push({ level: "warning", text: `${name} is not trusted, so it is not used`, advice });
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
