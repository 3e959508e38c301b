/** The scopes of MCP: what a caller's tools may do, and what a client is granted. None grants a role. */

export const mcpScopes = ['mcp:read', 'mcp:query', 'mcp:propose'] as const
export type McpScope = (typeof mcpScopes)[number]
