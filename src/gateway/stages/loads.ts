/**
 * Loads the table from the upstream and its policies from the store concurrently (steps 8 and 9 of
 * docs/reference/gateway.md 2.1).
 */

import { loadWriteGovernance, type WriteGovernance } from '../../store/policy/policies.ts'
import type { CommitRequest } from '../../wire/iceberg/commit-request.ts'
import { locationsNamed } from '../../wire/iceberg/named-locations.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { CachedTable } from '../base/table-cache.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import { loadCurrent, unlessAbsent } from './load-current.ts'
import { askedPrefixes } from './territory.ts'

/** The loads that a verdict needs. Neither promise rejects. */
export interface Loads {
  /** Starts the load unless it was started before. */
  readonly base: () => Promise<Outcome<CachedTable | undefined>>
  readonly governance: Promise<Outcome<WriteGovernance>>
}

/**
 * Starts to load the table, and its policies with its territory.
 * @param loadsTable false where the table is loaded once it is asked for
 */
export function startLoads(
  parts: GatewayParts,
  upstream: Upstream,
  change: Change,
  loadsTable = true,
): Loads {
  const { tenant, table, stages } = change
  const asked = askedPrefixes(locationsNamed(change.request.updates))
  const governance = outcomeOf(
    stages.time('policies', () => loadWriteGovernance(parts.store, tenant, table, asked)),
  )
  const base = tableOnce(() => startTableLoad(parts, upstream, change), change.request)
  if (loadsTable) void base()
  return { governance, base }
}

/** Loads the table that a change applies to once it is asked for, and only once. */
export function tableOnce(start: () => Promise<CachedTable>, request: CommitRequest): Loads['base'] {
  let base: ReturnType<Loads['base']> | undefined
  return () => (base ??= baseOf(start(), request))
}

/** Starts to load the table. A failure is thrown by `loadedBase`, not here. */
export function startTableLoad(
  parts: GatewayParts,
  upstream: Upstream,
  { tenant, table, stages, signal }: Pick<Change, 'tenant' | 'table' | 'stages' | 'signal'>,
): Promise<CachedTable> {
  const load = stages.time('load', () => loadCurrent(parts, tenant, upstream, table, signal))
  load.catch(() => {})
  return load
}

/** The table that a change applies to; undefined if the change creates it. */
function baseOf(load: Promise<CachedTable>, { requirements }: CommitRequest): ReturnType<Loads['base']> {
  const creates = requirements.some((requirement) => requirement.get('type') === 'assert-create')
  return outcomeOf(unlessAbsent(load, creates))
}

/** Waits for the table that a change applies to. Throws what its load threw. */
export async function loadedBase({ base }: Pick<Loads, 'base'>): Promise<CachedTable | undefined> {
  const loaded = await base()
  if (!loaded.ok) throw loaded.thrown
  return loaded.value
}

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly thrown: unknown }

/** Turns a promise's result into a value, so that the caller decides when to throw a failure. Never rejects. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await promise }
  } catch (thrown) {
    return { ok: false, thrown }
  }
}
