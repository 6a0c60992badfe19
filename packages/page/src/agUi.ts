export type { PageAnswer } from "./protocol.ts";
