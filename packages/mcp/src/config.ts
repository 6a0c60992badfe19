export { checkServers } from "./config/checkServers.ts";
export { requireServer } from "./config/configErrors.ts";
export { editJson, type McpConfigFile, projectConfigFile, userConfigFile } from "./config/configFile.ts";
export { mcpConfigName } from "./config/configName.ts";
export { allowedServers, fileConsents, type McpConsentQuestion, type McpConsents } from "./config/consents.ts";
export { describeServer, redactServer, serverAddress } from "./config/describeServer.ts";
export { joinServers } from "./config/joinServers.ts";
export { isMcpError, McpError } from "./errors.ts";
