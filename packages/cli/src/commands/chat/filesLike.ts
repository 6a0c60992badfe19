import type { AnyToolRegistry } from "@toolcrib/core";

const mostFiles = 30;

/** Files whose path holds what was typed, as the model's own search finds them: what the project ignores or a rule denies is left out. */
export async function filesLike(typed: string, registry: AnyToolRegistry, signal: AbortSignal): Promise<string[]> {
  const name = typed.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");
  const pattern = name === "" ? "*" : `**/*${name}*`;
  const outcome = await registry.invoke("search_files", { pattern, max_results: mostFiles }, { signal });
  const { files = [] } = ((outcome.ok ? outcome.data : undefined) as { readonly files?: string[] } | undefined) ?? {};
  return files;
}
