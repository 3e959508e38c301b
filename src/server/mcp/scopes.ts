/** The scopes of MCP: what a caller's tools may do. A session's own scopes bound them; none grants a role. */

import type { Session } from '../../core/session.ts'

export const mcpScopes = ['mcp:read', 'mcp:query', 'mcp:propose'] as const
export type McpScope = (typeof mcpScopes)[number]

/** The scopes that a session can have at most: it reads and queries with `read`, and proposes with `admin`, as in REST. */
export function scopesOf({ scopes }: Pick<Session, 'scopes'>): readonly McpScope[] {
  const reads = scopes.includes('read')
  return mcpScopes.filter((scope) => reads && (scope !== 'mcp:propose' || scopes.includes('admin')))
}
