/**
 * Resolves the lost reply to a catalog change, as lost-commit.ts does for commits. It handles only changes whose result
 * nothing else can have caused. Creations, views and namespaces are left to recovery, because their creator is unknown.
 */

import type { ForwardedResponse } from '../../catalog/catalog.ts'
import type { CommitIntent, CommittedTable } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { LoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import { historyOf } from '../base/metadata-history.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { committedAt } from './committed-at.ts'
import { loadNow } from './load-now.ts'
import { repeatUntilMade } from './lost-commit.ts'

interface LostAction {
  readonly intent: CommitIntent
  /** The new name, for a rename. */
  readonly destination: TableRef | undefined
  /** The metadata file that a registration names. */
  readonly registers: string | undefined
}

export interface ResolvedAction {
  readonly response: ForwardedResponse & { readonly body: Uint8Array }
  /** Set if the action wrote metadata. */
  readonly committed?: CommittedTable
}

/**
 * Rebuilds the reply to a change that was certainly made. Never throws.
 * @returns undefined if the change is not found to be made within `limits.lostAnswerWithinMs`
 */
export async function resolveLostAction(
  parts: GatewayParts,
  upstream: Upstream,
  lost: LostAction,
): Promise<ResolvedAction | undefined> {
  const resolve = resolvers[lost.intent.action ?? 'update-table']
  if (resolve === undefined) return undefined
  return await repeatUntilMade(parts, lost.intent, (signal) => resolve(upstream, lost, signal))
}

type Resolve = (
  upstream: Upstream,
  lost: LostAction,
  signal: AbortSignal,
) => Promise<ResolvedAction | undefined>

const resolvers: { readonly [action in NonNullable<CommitIntent['action']>]?: Resolve } = {
  'drop-table': async (upstream, { intent }, signal) =>
    (await loadNow(upstream.catalog, intent.table, signal)) === undefined ? noContent : undefined,

  'rename-table': async (upstream, { intent, destination }, signal) => {
    const found = destination && (await loadNow(upstream.catalog, destination, signal))
    const { baseTableUuid, baseMetadataLocation } = intent
    const moved =
      found !== undefined &&
      (holds(found.result, baseMetadataLocation) ||
        (baseTableUuid !== undefined && found.result.metadata.get('table-uuid') === baseTableUuid))
    return moved ? noContent : undefined
  },

  'register-table': async (upstream, { intent, registers }, signal) => {
    // A table that already has this file would look the same whether or not it was registered again.
    if (registers === undefined || intent.baseMetadataLocation !== '') return undefined
    const found = await loadNow(upstream.catalog, intent.table, signal)
    if (found === undefined || !holds(found.result, registers)) return undefined
    const { body, etag, result } = found
    const headers = { 'content-type': 'application/json', ...(etag !== undefined && { etag }) }
    return { response: { status: 200, headers, body }, committed: committedAt(result, intent, registers) }
  },
}

const noContent: ResolvedAction = { response: { status: 204, headers: {}, body: new Uint8Array() } }

function holds(table: LoadTableResult, metadataLocation: string): boolean {
  return historyOf(table).some((entry) => entry.metadataLocation === metadataLocation)
}
