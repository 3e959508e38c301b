/**
 * Seals the cursors of tools. A cursor is opaque, and bound to tenant, principal, governance version, tool and
 * arguments, so that no other caller can use it, and nobody after a policy has changed. It lasts 15 minutes.
 */

import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { maybe } from '../../http/schemas.ts'
import { type SecretsKeys, seal, unseal } from '../../store/database/sealing.ts'
import { readGovernanceVersion } from '../../store/governance/governance-versions.ts'
import { mcpBounds } from './bounds.ts'
import type { ToolContext } from './tool.ts'

/** Input: where a list goes on. */
export const cursorInput = maybe(
  Type.String({ maxLength: 4_096, description: '`next_cursor` of the previous answer' }),
)

export interface Cursors {
  /** The position that a client's cursor holds. @throws Fault `bad_request` for one that is not valid now */
  readonly open: (cursor: string | undefined) => string | undefined
  readonly seal: (after: string | undefined) => string | undefined
}

/**
 * The cursors of one call.
 * @param args the arguments that decide what is listed, without the cursor
 */
export async function cursorsOf(
  { parts: { store, clock }, caller }: ToolContext,
  tool: string,
  args: object,
): Promise<Cursors> {
  const { tenant, principal } = caller
  const version = await readGovernanceVersion(store, tenant)
  const digest = createHash('sha256').update(JSON.stringify(args)).digest('hex')
  const roles = JSON.stringify(principal.roles.toSorted())
  const place = ['mcp cursor', tenant, principal.sub, roles, String(version), tool, digest]
  return {
    open(cursor) {
      if (cursor === undefined) return undefined
      const opened = openSealed(store, place, cursor)
      if (opened === undefined || opened.expiresAtMs <= clock.now())
        throw new Fault('bad_request', 'The cursor is not valid any more. Call again without it.')
      return opened.after
    },
    seal(after) {
      if (after === undefined) return undefined
      const content = JSON.stringify({ after, expiresAtMs: clock.now() + mcpBounds.cursorMs })
      return Buffer.from(seal(store.secretsKey, place, content)).toString('base64url')
    },
  }
}

function openSealed(keys: SecretsKeys, place: readonly string[], cursor: string) {
  try {
    const content = unseal(keys, place, Buffer.from(cursor, 'base64url'))
    return JSON.parse(content) as { readonly after: string; readonly expiresAtMs: number }
  } catch {
    return undefined
  }
}
