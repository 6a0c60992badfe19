export { type ContractChange, compareManifests } from "./contracts/compareManifests.ts";
export {
  charactersPerToken,
  createManifest,
  estimateTokens,
  readManifest,
  type ToolContract,
  type ToolManifest,
} from "./contracts/toolContract.ts";
