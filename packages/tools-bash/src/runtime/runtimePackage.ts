/*
 * The types used of @anthropic-ai/sandbox-runtime 0.0.83, declared here: the package is an optional peer, and a program that has it not must
 * compile too. `sandboxRuntime.test-d.ts` holds these against its own types.
 */

/** A path that is never read as a pattern. */
interface LiteralPath {
  path: string;
  literal: true;
}

/** The paths that a command may read and write. */
export interface RuntimeFiles {
  denyRead: LiteralPath[];
  allowRead: LiteralPath[];
  allowWrite: LiteralPath[];
  denyWrite: LiteralPath[];
}

/** The configuration of the whole process. */
export interface RuntimeConfig {
  network: { allowedDomains: string[]; deniedDomains: string[] };
  filesystem: RuntimeFiles;
  bwrapPath?: string;
  socatPath?: string;
  ripgrep?: { command: string };
}

export interface RuntimeManager {
  isSupportedPlatform(): boolean;
  /** Returns undefined unless it is initialized. */
  getProxyPort(): number | undefined;
  initialize(config: RuntimeConfig): Promise<void>;
  checkDependencies(): { errors: string[]; warnings: string[] };
  /** Resolves to a line for `/bin/sh`. */
  wrapWithSandbox(
    command: string,
    shell: string,
    config: { filesystem: RuntimeFiles },
    signal: AbortSignal | undefined,
    options: { commandId: string },
  ): Promise<string>;
  /** Cleans up after a line that has ended. Call it once for each. */
  cleanupAfterCommand(): void;
  reset(): Promise<void>;
}

export interface RuntimePackage {
  readonly SandboxManager: RuntimeManager;
  readonly SandboxRuntimeConfigSchema: { parse(config: RuntimeConfig): unknown };
}

export function literal(path: string): LiteralPath {
  return { path, literal: true };
}
