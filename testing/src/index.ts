export { type AcpAsk, type AcpClient, connectAcpClient, startAcpProgram } from "./acpClient.ts";
export {
  AuthorizationServer,
  type ProtectedServer,
  protect,
} from "./authorizationServer.ts";
export { hasPgBouncer, type PgBouncer, startPgBouncer } from "./pgBouncer.ts";
export { drawPicture, withoutSharp, withSharpAs } from "./pictures.ts";
export { hasPostgres, type PostgresServer, startPostgres } from "./postgres.ts";
export { routeServices } from "./routeServices.ts";
export { ScreenModel } from "./screenModel.ts";
export { sharedCommand } from "./sharedCommand.ts";
export { sharedTerminal } from "./sharedTerminal.ts";
export { sharedWireServer } from "./sharedWireServer.ts";
export { hasSshServer, startSshServer } from "./sshServer.ts";
export { hasTerminals, startOnTerminal, type TerminalProgram } from "./startOnTerminal.ts";
export {
  compileCache,
  type ProgramEnd,
  startProgram,
} from "./startProgram.ts";
export { sharedFolder, temporaryFolder, workFolders, writeIn } from "./temporaryFolder.ts";
export { sharedServer, temporaryServer } from "./temporaryServer.ts";
export { testReadme } from "./testReadme.ts";
export { watchLoop } from "./watchLoop.ts";
export { type DefinitionWire, definitionListProblems, definitionProblems } from "./wire/definitions.ts";
export { faultKey, type WireFault, wireFaults } from "./wireFaults.ts";
export { answerWith, jsonOf, replyEvents, sse, streamOf, type WireReply } from "./wireReplies.ts";
export { type WireAnswer, type WireFormat, type WireRequest, WireServer, wireFormats } from "./wireServer.ts";
