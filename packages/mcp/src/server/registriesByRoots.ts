import type { AnyToolRegistry } from "@toolcrib/core";
import { anyRoots, type RootsRule } from "./clientRoots.ts";

/**
 * A registry, or a function that makes one for the directories that a client works in: absolute paths, or undefined when none
 * are named. Clients with equal roots share a registry.
 */
export type RegistrySource =
  | AnyToolRegistry
  | ((roots: readonly string[] | undefined) => AnyToolRegistry | Promise<AnyToolRegistry>);

/** The most registries made for roots that are kept. The one for no roots does not count. */
const maxRegistries = 32;

/** The registries of one source, made once for each set of roots. */
export class RegistriesByRoots {
  /** True if clients are asked for their roots: only a factory can use them. */
  readonly usesRoots: boolean;
  readonly #rule: RootsRule;
  readonly #make: (roots: readonly string[] | undefined) => AnyToolRegistry | Promise<AnyToolRegistry>;
  readonly #made = new Map<string, Promise<AnyToolRegistry>>();
  readonly #stops = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();

  /** Asks no client for roots if `rule` is false; the factory then gets none. */
  constructor(source: RegistrySource, rule: RootsRule | false = anyRoots) {
    this.usesRoots = typeof source === "function" && rule !== false;
    this.#rule = rule || (() => undefined);
    this.#make = typeof source === "function" ? source : () => source;
  }

  /** Returns the registry for the roots of a client. Rejects with what the factory throws; the next call tries again. */
  get(requested: readonly string[] = []): Promise<AnyToolRegistry> {
    const roots = this.usesRoots ? this.#rule(requested) : undefined;
    const key = requested.length > 0 && roots ? JSON.stringify(roots) : "";
    let registry = this.#made.get(key);
    if (!registry) {
      registry = this.#create(key, roots);
      this.#made.set(key, registry);
      registry.catch(() => this.#made.delete(key));
      const oldest = [...this.#made.keys()].find((known) => known !== "");
      if (this.#made.size > maxRegistries + 1 && oldest !== undefined) this.#drop(oldest);
    }
    return registry;
  }

  /** Calls `listener` when the tools of any registry change. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const key of [...this.#made.keys()]) this.#drop(key);
    this.#listeners.clear();
  }

  async #create(key: string, roots: readonly string[] | undefined): Promise<AnyToolRegistry> {
    const registry = await this.#make(roots);
    const stop = registry.onChange(() => {
      for (const listener of this.#listeners) listener();
    });
    this.#stops.set(key, stop);
    return registry;
  }

  #drop(key: string): void {
    this.#made.delete(key);
    this.#stops.get(key)?.();
    this.#stops.delete(key);
  }
}
