export { checkModelAddress, checkModelSources, type ModelFinding, type ModelSources } from "./models/checkModels.ts";
export { chooseModel, keyedModels, type ModelChoice, type ModelRequest } from "./models/chooseModel.ts";
export {
  type LocalServer,
  localServers,
  type Offer,
  offerFound,
  offerOf,
  shownAddress,
} from "./models/localServers.ts";
export { providerNames } from "./models/services.ts";
