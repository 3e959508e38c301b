/**
 * Resolves the lost answer of a catalog change, as lost-commit.ts does for commits. Only where nothing else can have
 * made what is there now: a table or view under a new name does not say who created it, so creations, views and
 * namespaces are left to recovery.
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
import { untilMade } from './lost-commit.ts'

export interface LostAction {
  readonly intent: CommitIntent
  /** Of a rename. */
  readonly destination: TableRef | undefined
  /** The metadata file that a registration names. */
  readonly registers: string | undefined
}

export interface ResolvedAction {
  readonly response: ForwardedResponse & { readonly body: Uint8Array }
  /** Set where the action wrote metadata. */
  readonly committed?: CommittedTable
}

/**
 * The answer to a change that was surely made.
 * @returns undefined where it cannot be told within `limits.lostAnswerWithinMs` that it was made; never throws
 */
export async function resolveLostAction(
  parts: GatewayParts,
  upstream: Upstream,
  lost: LostAction,
): Promise<ResolvedAction | undefined> {
  const resolve = resolvers[lost.intent.action ?? 'update-table']
  if (resolve === undefined) return undefined
  return await untilMade(parts, lost.intent, (signal) => resolve(upstream, lost, signal))
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
    // Registered over a table that is that very one, nothing would show whether it was done again.
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
