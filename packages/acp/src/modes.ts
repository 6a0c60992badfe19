import { type Mode, modes } from "@toolcrib/policy";
import type { AcpChoice } from "./types.ts";

const labels: Readonly<Record<Mode, { readonly name: string; readonly description: string }>> = {
  ask: { name: "Ask", description: "Reads run; you are asked about everything else" },
  "read-only": { name: "Read only", description: "Reads run; everything else is refused" },
  "accept-edits": {
    name: "Accept edits",
    description: "Reads and changes of files run; you are asked about everything else",
  },
  full: { name: "Full access", description: "Everything runs unless a rule or a protected path prevents it" },
};

/** The modes of a policy, for `AcpSession.modes`. */
export const permissionModes: AcpChoice["available"] = modes.map((id) => ({ id, ...labels[id] }));
