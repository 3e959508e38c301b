/** What the authorization server grants by default, and how long what it hands out is valid. */

import type { McpScope } from '../../core/mcp-scope.ts'
import { limits } from '../../limits.ts'

/** For a client that asks for none. */
export const defaultScopes: readonly McpScope[] = ['mcp:read', 'mcp:query']

/** Milliseconds. A refresh token ends with its browser session at the latest. */
export const consentMs = 600_000
export const codeMs = 60_000
export const accessTokenMs = 900_000
export const refreshTokenMs = limits.browserSessionMs
