export { permissionModes } from "./modes.ts";
export { type AcpServing, type ServeAcpOptions, serveAcp } from "./serveAcp.ts";
export type { AcpCall, AcpSession, AcpSessionInfo, AcpSessionRequest } from "./types.ts";
