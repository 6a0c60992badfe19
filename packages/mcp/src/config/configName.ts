/** The file in which a directory names its MCP servers. */
export const mcpConfigName = ".mcp.json";
