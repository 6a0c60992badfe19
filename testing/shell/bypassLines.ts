import { bypassOptions } from "./bypassOptions.ts";
import { bypassSyntax } from "./bypassSyntax.ts";

export interface BypassLine {
  readonly line: string;
  readonly allow: readonly string[];
  readonly writesInside: boolean;
  readonly source: string;
  readonly what: string;
}

export const bypassLines: readonly BypassLine[] = [...bypassSyntax, ...bypassOptions].flatMap((group) =>
  group.lines.map((line) => ({
    line,
    allow: group.allow ?? [],
    writesInside: group.writesInside ?? false,
    source: group.source,
    what: group.what,
  })),
);
