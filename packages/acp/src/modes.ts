import { type Mode, modes } from "@toolcrib/policy";
import type { AcpChoice } from "./types.ts";

const words: Readonly<Record<Mode, { readonly name: string; readonly description: string }>> = {
  ask: { name: "Ask", description: "Reads run, the rest is asked about" },
  "read-only": { name: "Read only", description: "Reads run, the rest is refused" },
  "accept-edits": { name: "Accept edits", description: "Reads and changes of files run, the rest is asked about" },
  full: { name: "Full access", description: "All runs but what a rule or a protected path stops" },
};

/** The modes of a policy, for `AcpSession.modes`. */
export const permissionModes: AcpChoice["available"] = modes.map((id) => ({ id, ...words[id] }));
