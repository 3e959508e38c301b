/**
 * Checks that an open run may go on: that the reader's credential, the catalog credential and the governance of its
 * tables are still those it was loaded with. A check compares versions in memory. It asks the store only when something
 * of the tenant has changed, or the cached version is stale.
 */

import type { Clock } from '../../../base/clock.ts'
import type { Pace } from '../../../base/right-of-way.ts'
import type { Governance } from '../../../core/governance.ts'
import { meetsDemands } from '../../../core/purpose.ts'
import { protectionsFor, revealsFor, type Viewer, viewerAt } from '../../../core/seen-table.ts'
import { tableKey, tableName } from '../../../core/table-ref.ts'
import { mayStillRead } from '../../../core/territory.ts'
import { territoryOf } from '../../../core/territory-owner.ts'
import { limits } from '../../../limits.ts'
import { loadRead } from '../../../store/governance/read-call.ts'
import type { Store } from '../../../store/store.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import type { QueryContext } from '../../query-service.ts'
import type { Load } from '../attempt/attempt.ts'
import { runError } from '../attempt/run-error.ts'
import { assertNotQuarantined } from '../load/quarantined.ts'
import type { CachedVersions } from './cached-versions.ts'
import { GovernanceChanged } from './governance-changed.ts'

/** Milliseconds between two retries of a failing store. */
const governanceRetryMs = 250

export interface CheckParts {
  readonly store: Store
  readonly versions: CachedVersions
  readonly clock: Clock
  readonly pace: Pace
}

export class RunCheck {
  /** The governance version at which the load was last confirmed. */
  #version: bigint

  constructor(
    readonly parts: CheckParts,
    readonly context: QueryContext,
    readonly load: Load,
  ) {
    this.#version = load.loaded.governanceVersion
  }

  /**
   * Checks whether the run may go on.
   * @returns undefined where it may; else a promise, which waits for the store. It rejects with SqlError 28000 where the
   *   reader's credential ended, 55000 where anything else has changed, 58000 where the store does not reply in time
   */
  look(): Promise<void> | undefined {
    const { clock, versions } = this.parts
    const { tenant, reader } = this.context
    if (reader.expiresAtMs !== undefined && reader.expiresAtMs <= clock.now())
      return Promise.reject(credentialEnded())
    if ((this.load.compiled.liftedUntilMs ?? Number.POSITIVE_INFINITY) <= clock.now())
      return Promise.reject(this.#ended())
    return versions.standing(tenant, this.#version) === 'same' ? undefined : this.#askStore()
  }

  /** The error where what lets the reader see more has come to its end. */
  #ended(): GovernanceChanged {
    const isGrant = this.load.compiled.lifted.some(({ untilMs }) => untilMs <= this.parts.clock.now())
    if (!isGrant) return changed('An attestation of a metric')
    return new GovernanceChanged('A grant of access has ended since the query began. Run it again.')
  }

  /** Retries while the store is unavailable; the run ends only after `governanceWaitMs`. */
  async #askStore(): Promise<void> {
    const { pace } = this.parts
    const untilMs = pace.now() + limits.governanceWaitMs
    for (;;)
      try {
        return await this.#ask()
      } catch (thrown) {
        const failure = runError(thrown)
        if (failure.kind !== 'unavailable') throw failure
        if (pace.now() >= untilMs)
          throw new SqlError(
            '58000',
            'The governance of the tables could not be checked. Retry.',
            undefined,
            {
              cause: thrown,
            },
          )
        await pace.sleep(governanceRetryMs)
      }
  }

  async #ask(): Promise<void> {
    const { tenant } = this.context
    const { versions } = this.parts
    if (versions.standing(tenant, this.#version) === 'stale') await versions.refresh(tenant)
    // The refresh may have begun before this call, so its version may be stale already.
    if (versions.standing(tenant, this.#version) !== 'same') await this.#compare()
  }

  async #compare(): Promise<void> {
    const { store, versions, pace } = this.parts
    const { tenant, catalog, reader } = this.context
    const { loaded, compiled } = this.load
    // Which change it was does not matter: what is read without masks needs every attestation to stand.
    if (this.load.expansion?.liftedUntilMs !== undefined)
      throw changed('An attestation of a metric, or another rule,')
    const refs = compiled.reads.map(({ table }) => table.ref)
    const sessionId = reader.sessionToCheck?.()
    const askedMs = pace.now()
    const call = loadRead(store, tenant, catalog, refs, { sessionId, before: loaded.credential })
    const [now, isValid] = await Promise.all([
      call,
      sessionId === undefined ? reader.stillValid() : undefined,
    ])
    if (isValid === false || now?.isSessionValid === false) throw credentialEnded()
    if (now === undefined || !Bun.deepEquals(now.credential, loaded.credential, true))
      throw changed('The credential of the catalog')
    for (const ref of refs)
      if (!this.#isAlike(loaded.governances.get(tableKey(ref)), now.governances.get(tableKey(ref))))
        throw changed(`The governance of table ${tableName(ref)}`)
    for (const ref of refs)
      if (!meetsDemands(now.governances.get(tableKey(ref))?.purposeDemands, this.context.purpose))
        throw changed(`What the contract of table ${tableName(ref)} demands of the purpose`)
    for (const ref of refs) {
      const snapshot = loaded.snapshots.get(tableKey(ref))
      if (snapshot) assertNotQuarantined(now.territory, snapshot.owner, snapshot.snapshotId)
      if (snapshot && !mayStillRead(snapshot.territory, territoryOf(now.territory, snapshot.owner)))
        throw changed(`The territory of table ${tableName(ref)}`)
    }
    versions.learn(tenant, now.governanceVersion, askedMs)
    this.#version = now.governanceVersion
  }

  #isAlike(before: Governance | undefined, now: Governance | undefined): boolean {
    if (before === undefined || now === undefined) return false
    const { principal } = this.context
    const nowMs = this.parts.clock.now()
    const rests = (governance: Governance, atMs: number) => ({
      ...restsOn(governance, viewerAt(principal, atMs)),
      reveals: sorted(revealsFor(governance.reveals, principal)),
    })
    // At the time of its load: by now a grant may be over in both.
    return Bun.deepEquals(rests(before, this.load.loaded.atMs ?? nowMs), rests(now, nowMs), true)
  }
}

/** The parts of a table's governance that decide the rows, given its schema; sorted, so that they compare. */
function restsOn(governance: Governance, viewer: Viewer) {
  const { contract, pin, readableWithoutContract } = governance
  const { filters, masks, lifted } = protectionsFor(governance, viewer)
  return {
    ...{ contract, pin, readable: contract === undefined && readableWithoutContract },
    ...{ filters: sorted(filters), masks: sorted(masks), lifted: sorted(lifted) },
  }
}

function sorted(parts: readonly object[]): readonly string[] {
  return parts.map((part) => JSON.stringify(part)).sort()
}

function changed(what: string): GovernanceChanged {
  return new GovernanceChanged(`${what} has changed since the query began. Run it again.`)
}

/** The error for a reader whose credential no longer holds. */
export function credentialEnded(): SqlError {
  return new SqlError('28000', 'The credential that the query runs with was revoked or has expired.')
}
