/**
 * The agent state that a tool may read, through getters: after `agent.clearContext()` or
 * `agent.setSystemPrompt()` a tool that kept the object sees the new values.
 */
export interface ToolContext {
  readonly systemPrompt: string;
  /** The conversation so far: JSON-serialisable messages, oldest first. */
  readonly sessionContext: readonly unknown[];
  /** The file that `save_session_context` writes. */
  readonly sessionContextFilePath: string;
}
