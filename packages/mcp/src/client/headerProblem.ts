import { isObject } from "@toolcrib/core/text";

const keyword = "x-mcp-header";
/** Keywords whose values are data. */
const dataKeywords = ["const", "default", "enum", "examples"];

/**
 * Says why a tool may not be used over HTTP in the revision 2026-07-28: what its schema says of headers that are made from arguments is
 * wrong. Undefined if nothing is.
 */
export function headerProblem(inputSchema: unknown): string | undefined {
  const seen = new Set<string>();
  const problemOf = (schema: unknown, isReachable: boolean): string | undefined => {
    if (typeof schema !== "object" || schema === null) return undefined;
    const { [keyword]: header, type } = schema as Record<string, unknown>;
    if (isObject(schema) && header !== undefined) {
      if (typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
        return `${keyword} is no name of a header`;
      if (!isReachable) return `${keyword} ${header} is not on a property that always has one place`;
      if (!["string", "integer", "boolean"].includes(String(type)))
        return `${keyword} ${header} is on a property that is no string, integer or boolean`;
      if (seen.has(header.toLowerCase())) return `${keyword} ${header} is there twice`;
      seen.add(header.toLowerCase());
    }
    for (const [key, value] of Object.entries(schema)) {
      if (dataKeywords.includes(key)) continue;
      const isMap = key === "properties" && isObject(value);
      const parts = isMap ? Object.values(value) : [value];
      for (const part of parts) {
        const problem = problemOf(part, isMap && isReachable);
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  };
  return problemOf(inputSchema, true);
}
