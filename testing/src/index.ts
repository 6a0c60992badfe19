import { testProvider as declareProviderTests } from "@toolcrib/agent/testing";
import { testTool as declareToolTests } from "@toolcrib/core/testing";
import { describe, test } from "vitest";

/** The conformance suite that every tool joins with one call. */
export function testTool(title: string, subject: Parameters<typeof declareToolTests>[1]): void {
  describe(title, () => declareToolTests(test, subject));
}

/** The conformance suite that every provider joins with one call. */
export function testProvider(title: string, subject: Parameters<typeof declareProviderTests>[1]): void {
  describe(title, () => declareProviderTests(test, subject));
}

export { type AcpAsk, type AcpClient, type AcpProgram, connectAcpClient, startAcpProgram } from "./acpClient.ts";
export {
  AuthorizationServer,
  type AuthorizationServerOptions,
  type ProtectedServer,
  protect,
} from "./authorizationServer.ts";
export { hasPgBouncer, type PgBouncer, startPgBouncer } from "./pgBouncer.ts";
export { drawPicture, type PictureOptions, withoutSharp, withSharpAs } from "./pictures.ts";
export { hasPostgres, type PostgresOptions, type PostgresServer, startPostgres } from "./postgres.ts";
export { routedServices, routeServices } from "./routeServices.ts";
export { ScreenModel } from "./screenModel.ts";
export { sharedCommand } from "./sharedCommand.ts";
export { sharedTerminal } from "./sharedTerminal.ts";
export { sharedWireServer } from "./sharedWireServer.ts";
export { hasSshServer, type SshServer, startSshServer } from "./sshServer.ts";
export { hasTerminals, startOnTerminal, type TerminalProgram } from "./startOnTerminal.ts";
export {
  compileCache,
  type ProgramEnd,
  type ProgramOptions,
  type RunningProgram,
  startProgram,
} from "./startProgram.ts";
export { sharedFolder, temporaryFolder, workFolders, writeIn } from "./temporaryFolder.ts";
export { testPages } from "./testPages.ts";
export { testReadme } from "./testReadme.ts";
export { watchLoop } from "./watchLoop.ts";
export { listRegistry, runFault, wireProvider } from "./wireFaultRun.ts";
export { faultKey, type WireFault, wireFaults } from "./wireFaults.ts";
export { answerWith, jsonOf, replyEvents, sse, streamOf, type WireReply, wholeReply } from "./wireReplies.ts";
export { type WireAnswer, type WireFormat, type WireRequest, WireServer, wireFormats } from "./wireServer.ts";
