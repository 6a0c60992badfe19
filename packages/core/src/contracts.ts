export { type ContractChange, compareManifests } from "./contracts/compareManifests.ts";
export { compareSchemas, type SchemaChange } from "./contracts/compareSchemas.ts";
export {
  charactersPerToken,
  createManifest,
  estimateTokens,
  readManifest,
  type ToolContract,
  type ToolManifest,
} from "./contracts/toolContract.ts";
