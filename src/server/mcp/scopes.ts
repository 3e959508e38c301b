/** The scopes of MCP that a session can have. */

import { type McpScope, mcpScopes } from '../../core/mcp-scope.ts'
import type { Session } from '../../core/session.ts'

/** A session's scopes at most: it reads and queries with `read`, and proposes with `admin` besides, as in REST. */
export function scopesOf({ scopes }: Pick<Session, 'scopes'>): readonly McpScope[] {
  const reads = scopes.includes('read')
  return mcpScopes.filter((scope) => reads && (scope !== 'mcp:propose' || scopes.includes('admin')))
}
