export { permissionModes } from "./modes.ts";
export { type AcpServing, serveAcp } from "./serveAcp.ts";
export type { AcpSession, AcpSessionRequest } from "./types.ts";
