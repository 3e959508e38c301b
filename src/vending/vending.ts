/**
 * Issues storage credentials to sessions: for the territory of one table, on record before they leave, and again from
 * memory while more than half of their time is left. What the caller may see was judged before.
 */

import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import type { Session } from '../core/session.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Licensed } from '../license/licensed.ts'
import { limits } from '../limits.ts'
import { givenOut, storageRoots } from '../storage/roots.ts'
import type { Store } from '../store/store.ts'
import { completeVended, dropReserved, reserveVended } from '../store/vended/vended-credentials.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { awsIssuer } from './aws/aws-issuer.ts'
import type { CannotNarrow, CredentialAccess, IssuedCredential } from './issuer.ts'
import { type VendSettings, vendingSettings } from './settings.ts'

interface VendingParts {
  readonly store: Store
  readonly clock: Clock
  readonly addressRules: AddressRules
  readonly licensed: Pick<Licensed, 'require'>
  readonly metrics: Pick<Metrics, 'credentialsVended' | 'credentialsWithheld'>
}

interface VendRequest {
  readonly session: Session
  /** Subject of the principal, for the record. */
  readonly sub: string
  readonly credential: CatalogCredential
  readonly table: TableRef
  /** The table's territory: canonical prefixes. What lies outside of the credential's storage roots is left out. */
  readonly prefixes: readonly string[]
  /** Of the tenant's territory, where the prefixes are those of an earlier request. */
  readonly territoryVersion?: string
  readonly access: CredentialAccess
  /** When the access ends by which the caller has the files; at least {@link openMs} from when that was looked up. */
  readonly untilMs?: number
}

export interface VendedTable {
  readonly issued: IssuedCredential
  readonly prefixes: readonly string[]
  /** Of the storage, for clients. */
  readonly storage: VendSettings['storage']
}

/** Credentials that are being asked for. Until they are taken, none leaves and none is on record as issued. */
export interface PendingVend {
  /**
   * Completes the record and gives the credentials out.
   * @returns undefined where the territory is not of the version any more from which the prefixes are
   * @throws Fault `policy_denied` where they cannot be limited to the territory, `unauthenticated` where the session has
   *   ended, `upstream_failed` where none can be had
   */
  take(): Promise<VendedTable | undefined>
  /** Withdraws the record, where they are not taken after all. Does not wait for the cloud. @throws Fault of the store */
  drop(): Promise<void>
}

/**
 * Begins to issue the credentials of one table. Either `take` or `drop` follows.
 * @returns undefined where earlier ones would be given again, but the request does not know the present territory
 * @throws Fault `forbidden` without a license for it, `misconfigured`, `not_acceptable` where the catalog does not vend,
 *   `policy_denied` where nothing of the territory is below a storage root
 */
export type Vend = (request: VendRequest) => PendingVend | undefined

/** Seconds for which credentials are issued. Readers get the least that AWS allows. */
const lifetimes = { read: 900, write: 3_600 } as const satisfies Record<CredentialAccess, number>

const shortestMs = lifetimes.read * 1_000

/**
 * Milliseconds for which what is given out may open files: the shortest credential, a signature whose time is five minutes
 * ahead, and five minutes for the catalog and the cloud to come back.
 */
export const openMs = shortestMs + 600_000

/** Milliseconds that a credential may end later than its record says until it is completed: clocks differ. */
const expirySlackMs = 60_000

/** Makes the function, with its own cache. */
export function vending({ store, clock, addressRules, licensed, metrics }: VendingParts): Vend {
  const issuedBefore = new Lru<string, IssuedCredential>(limits.vendedCredentialsCount)

  const withheld = (reason: 'license' | 'territory' | 'failed') => metrics.credentialsWithheld.inc({ reason })

  return ({ session, sub, credential, table, prefixes: all, territoryVersion, access, untilMs }) => {
    const { tenant, sessionId } = session
    try {
      licensed.require('vending')
    } catch (thrown) {
      withheld('license')
      throw thrown
    }
    const settings = vendingSettings(credential)
    if (settings.mode !== 'vend') throw new Fault('not_acceptable', 'This catalog does not vend credentials.')
    const prefixes = outermost(givenOut(all, credential.config))
    if (prefixes.length === 0 && all.length > 0) {
      withheld('territory')
      throw new Fault('policy_denied', noRootAbove(table, credential))
    }
    if (untilMs !== undefined && untilMs < clock.now() + shortestMs + expirySlackMs) {
      withheld('failed')
      throw new Fault(
        'policy_denied',
        'policy denied: access to the table ends before a credential could end.',
      )
    }
    const lifetimeSeconds = lifetimeOf(access, [session.expiresAtMs, untilMs], clock)
    const key = JSON.stringify([
      ...[tenant, credential.id, credential.version, sessionId, access],
      ...[tableKey(table), ...prefixes],
    ])
    const vended = (issued: IssuedCredential): VendedTable => ({
      issued,
      prefixes,
      storage: settings.storage,
    })
    const before = issuedBefore.get(key)
    const known = before !== undefined && before.expiresAtMs <= (untilMs ?? Infinity) ? before : undefined
    if (known !== undefined && known.expiresAtMs - clock.now() > lifetimes[access] * 500)
      return territoryVersion === undefined
        ? { take: async () => vended(known), drop: async () => {} }
        : undefined

    const sessionName = sessionNameOf(tenant, sessionId)
    const issuer = awsIssuer(settings, { addressRules, clock })
    // Durable while the cloud is asked, so that the two waits are one.
    const record = {
      ...{ sessionId, table, access, prefixes, sessionName },
      issuedFor: issuer.issuedFor(access),
      sessionKind: session.kind,
      principal: sub,
      credentialId: credential.id,
      expiresAtMs: clock.now() + lifetimeSeconds * 1000 + expirySlackMs,
    }
    const reserving = reserveVended(store, tenant, record, territoryVersion)
    const asking = issuer.issue({ prefixes, access, sessionName, lifetimeSeconds })
    // Settled at once, because nobody sees a failure of what is dropped.
    const both = Promise.allSettled([reserving, asking])

    return {
      async take() {
        const [reserved, asked] = await both
        if (reserved.status === 'rejected') throw reserved.reason
        const { id, problem } = reserved.value
        if (problem === 'territory-changed') return undefined
        if (asked.status === 'rejected' || 'refusal' in asked.value) {
          if (id !== undefined) await dropReserved(store, tenant, id)
          withheld(asked.status === 'rejected' ? 'failed' : 'territory')
          if (asked.status === 'rejected') throw asked.reason
          throw new Fault(
            'policy_denied',
            `policy denied: credentials of ${tableName(table)} ${(asked.value as CannotNarrow).refusal}, so none are given out`,
          )
        }
        const issued = asked.value
        const isValid = id !== undefined && (await completeVended(store, tenant, id, issued))
        if (!isValid) throw new Fault('unauthenticated', 'The session has ended.')
        metrics.credentialsVended.inc({ access })
        issuedBefore.set(key, issued)
        return vended(issued)
      },
      async drop() {
        const id = await reserving.then((reserved) => reserved.id).catch(() => undefined)
        if (id !== undefined) await dropReserved(store, tenant, id)
      },
    }
  }
}

/**
 * The name of a session at the cloud. One name for a session, so that a denial ends all that it was issued; a digest,
 * so that the cloud's logs hold no id of ours.
 */
export function sessionNameOf(tenant: TenantId, sessionId: string): string {
  const digest = createHash('sha256').update(`${tenant} ${sessionId}`).digest('hex')
  return `covenant-${digest.slice(0, 40)}`
}

function noRootAbove(table: TableRef, { config }: CatalogCredential): string {
  const why =
    storageRoots(config).length === 0
      ? 'its catalog credential registers no storage_roots'
      : `no folder of ${tableName(table)} is below a storage root of its catalog`
  return `policy denied: ${why}, so no credentials are given out. An administrator can register storage_roots`
}

/** Not longer than the session and what gives access, as far as AWS allows. */
function lifetimeOf(access: CredentialAccess, ends: readonly (number | undefined)[], clock: Clock): number {
  const endsMs = ends.filter((ms) => ms !== undefined)
  if (endsMs.length === 0) return lifetimes[access]
  const left = Math.floor((Math.min(...endsMs) - clock.now()) / 1000)
  return Math.max(lifetimes.read, Math.min(lifetimes[access], left))
}

/** The prefixes that lie in no other. */
export function outermost(prefixes: readonly string[]): readonly string[] {
  const unique = [...new Set(prefixes)].sort()
  return unique.filter((one) => !unique.some((other) => other !== one && one.startsWith(other)))
}
