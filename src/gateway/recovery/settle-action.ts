/**
 * Clears up the lost answer of a catalog change that is no commit, as `settle` does for commits. Only where what is
 * there now can have come of nothing else: a table or view under a new name does not say who created it, so
 * creations, views and namespaces are left to recovery.
 */

import type { ForwardedResponse } from '../../catalog/catalog.ts'
import type { CommitIntent, CommittedTable } from '../../core/commit.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { type LoadTableResult, parseLoadTableResult } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../parts.ts'
import type { Upstream } from '../stages/open-upstream.ts'
import { committedAt } from './committed-at.ts'
import { historyOf } from './decide.ts'
import { saysAbsent } from './says-absent.ts'
import { untilMade } from './settle.ts'

export interface LostAction {
  readonly intent: CommitIntent
  /** Of a rename. */
  readonly destination: TableRef | undefined
  /** The metadata file that a registration names. */
  readonly registers: string | undefined
}

export interface SettledAction {
  readonly response: ForwardedResponse & { readonly body: Uint8Array }
  /** Set where the action wrote metadata. */
  readonly committed?: CommittedTable
}

/**
 * The answer to a change that was surely made.
 * @returns undefined where it cannot be told within `limits.settleWithinMs` that it was made; never throws
 */
export async function settleAction(
  parts: GatewayParts,
  upstream: Upstream,
  lost: LostAction,
): Promise<SettledAction | undefined> {
  const settle = settlers[lost.intent.action ?? 'update-table']
  if (settle === undefined) return undefined
  return await untilMade(parts, lost.intent, (signal) => settle(upstream, lost, signal))
}

type Settle = (
  upstream: Upstream,
  lost: LostAction,
  signal: AbortSignal,
) => Promise<SettledAction | undefined>

const settlers: { readonly [action in NonNullable<CommitIntent['action']>]?: Settle } = {
  'drop-table': async (upstream, { intent }, signal) =>
    (await load(upstream, intent.table, signal)) === undefined ? noContent : undefined,

  'rename-table': async (upstream, { intent, destination }, signal) => {
    const found = destination && (await load(upstream, destination, signal))
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
    const found = await load(upstream, intent.table, signal)
    if (found === undefined || !holds(found.result, registers)) return undefined
    const { body, etag, result } = found
    const headers = { 'content-type': 'application/json', ...(etag !== undefined && { etag }) }
    return { response: { status: 200, headers, body }, committed: committedAt(result, intent, registers) }
  },
}

const noContent: SettledAction = { response: { status: 204, headers: {}, body: new Uint8Array() } }

function holds(table: LoadTableResult, metadataLocation: string): boolean {
  return historyOf(table).some((entry) => entry.metadataLocation === metadataLocation)
}

interface LoadedNow {
  readonly body: Uint8Array
  readonly etag: string | undefined
  readonly result: LoadTableResult
}

/** @returns undefined where the catalog says that there is no such table */
async function load(
  { catalog }: Upstream,
  table: TableRef,
  signal: AbortSignal,
): Promise<LoadedNow | undefined> {
  try {
    const loaded = await catalog.loadTable(table, { signal })
    if (loaded.status !== 'loaded') throw new Error('an unconditional load was answered 304')
    return { body: loaded.body, etag: loaded.etag, result: parseLoadTableResult(loaded.body) }
  } catch (error) {
    if (saysAbsent(error)) return undefined
    throw error
  }
}
