import { isObject } from "../isObject.ts";
import type { Fields, Problems } from "./checks.ts";
import { betas } from "./rules.ts";

/** Follows the tools that are offered at each place of a conversation of the Messages API. */
export class ToolChanges {
  readonly #named: ReadonlySet<string>;
  readonly #declared = new Set<string>();
  readonly #offered = new Set<string>();
  /** Results may have offered them. */
  readonly #deferred = new Set<string>();

  constructor(tools: readonly unknown[], named: ReadonlySet<string>) {
    this.#named = named;
    for (const tool of tools.filter(isObject)) {
      this.#declared.add(String(tool.name));
      (tool.defer_loading === true ? this.#deferred : this.#offered).add(String(tool.name));
    }
  }

  /** Checks a block of a system message that adds or removes a tool. Returns the definition that it holds. */
  take(problems: Problems, block: Fields, at: string): unknown {
    if (!problems.object(block, at, ["type", "tool"], ["cache_control"]) || !isObject(block.tool)) return undefined;
    const inline = this.#named.has(betas.inlineTools);
    const { type, name, definition } = block.tool;
    if (type === "tool_definition" && block.type === "tool_addition") {
      problems.object(block.tool, `${at}.tool`, ["type", "definition"], []);
      problems.expect(inline, `${at}: tool_definition needs the beta ${betas.inlineTools}`);
      const defined = String(isObject(definition) ? definition.name : "");
      this.#declared.add(defined);
      this.#offered.add(defined);
      return definition;
    }
    problems.object(block.tool, `${at}.tool`, ["type", "name"], []);
    problems.expect(type === "tool_reference", `${at}: ${String(block.type)} of ${String(type)}`);
    problems.expect(
      inline || this.#named.has(betas.toolChanges),
      `${at}: ${String(block.type)}: Extra inputs are not permitted`,
    );
    const tool = String(name);
    if (!problems.expect(this.#declared.has(tool), `${at}: no tool ${tool} was declared before`)) return undefined;
    if (block.type === "tool_addition") this.#offered.add(tool);
    else if (!this.#deferred.delete(tool))
      problems.expect(this.#offered.delete(tool), `${at}: the tool ${tool} is not offered, so it cannot be removed`);
    return undefined;
  }
}
