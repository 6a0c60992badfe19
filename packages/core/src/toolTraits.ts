/** Claims of a tool about itself; MCP's tool annotations and the approval policy read it. */
export interface ToolTraits {
  /** Changes nothing. */
  readonly readOnly?: boolean | undefined;
  /** May destroy something. */
  readonly destructive?: boolean | undefined;
  /** A second call with the same arguments changes nothing more. */
  readonly idempotent?: boolean | undefined;
  /** Reaches beyond this machine's known state (network, other programs). */
  readonly openWorld?: boolean | undefined;
}
