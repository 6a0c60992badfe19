export { checkModelAddress, checkModelSources } from "./models/checkModels.ts";
export { chooseModel, keyedModels, type ModelChoice, type ModelRequest } from "./models/chooseModel.ts";
export { localServers, readModelNames } from "./models/localServers.ts";
export { providerNames } from "./models/services.ts";
export { proxyVariable, usesProxies } from "./providers/errors/proxies.ts";
export type { ModelRules } from "./providers/models/modelRules.ts";
export { modelPrice, modelRules, models } from "./providers/models/models.ts";
