export { type ConfigContent, type ConfigFile, configFile } from "./configFile.ts";
export type { ConfigFileOptions } from "./configText.ts";
export { type FolderTrust, folderTrust, type Trust } from "./folderTrust.ts";
export { parseSetting, type Settings, settingKeys, settingsFromEnvironment, variableName } from "./settings.ts";
