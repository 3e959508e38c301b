/**
 * Holds back a change that loosens what a deployed contract promises, until somebody else has signed it. The change is
 * compared by its effect, whatever verb makes it: what governs its tables is read before and after. The same call,
 * repeated after the sign-off, makes it once. Who may sign is decided in contract/loosening.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import type { Governance } from '../../core/governance.ts'
import { looseningsOf } from '../../core/protection-change.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import { readGovernances } from '../governance/governance.ts'
import { lockContracts } from './changes.ts'
import {
  type AskedChange,
  looseningDaysMax,
  requestSignOff,
  type SignedContext,
  type WantedSignOff,
} from './loosenings.ts'
import { taggedTables } from './targets.ts'
import { hasLifeCycle } from './versions.ts'

/** What a change concerns, besides what comparing its tables shows. */
interface Concern {
  readonly tables: (tx: Tx) => Promise<readonly TableRef[]>
  /** What it loosens on each of its tables that comparing does not show, in words. Called after the change. */
  readonly alsoLoosens?: (tx: Tx) => Promise<readonly string[]>
}

/** Thrown inside the transaction, so that the change is rolled back before the request is saved. */
class Unsigned extends Error {
  constructor(readonly wanted: WantedSignOff) {
    super('the change needs a sign-off')
  }
}

/** The tables that a subject names: its table, or all that have its tag. */
export function tablesOfSubject(subject: AskedChange['subject']): Concern {
  const { table, tag } = subject
  return {
    tables: async (tx) =>
      table !== undefined ? [table as TableRef] : typeof tag === 'string' ? await taggedTables(tx, tag) : [],
  }
}

/**
 * Makes a change in one transaction under the lock of contracts. One that loosens what governs a table under a
 * contract with a life cycle is made only with a sign-off, which it uses up.
 * @param work makes and records it
 * @throws Fault `conflict` where a sign-off is missing; it names the request that waits for one
 */
export async function changeSigned<T>(
  on: SignedContext,
  asked: AskedChange,
  concern: Concern,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  try {
    return await on.store.tenantTransaction(on.tenant, async (tx) => {
      await lockContracts(tx)
      const before = await deployedGovernances(tx, on.tenant, await concern.tables(tx))
      const result = await work(tx)
      if (before.size > 0) await useSignOff(tx, on, asked, concern, before)
      return result
    })
  } catch (thrown) {
    if (!(thrown instanceof Unsigned)) throw thrown
    const id = await requestSignOff(on, asked, thrown.wanted)
    const { contracts, findings } = thrown.wanted
    throw new Fault(
      'conflict',
      `The change loosens what ${contracts.join(', ')} promises: ${findings.slice(0, 5).join('; ')}. Another person signs the request ${id} (POST /api/v1/contracts/loosenings/${id}/sign-offs); then repeat the call.`,
    )
  }
}

/** What governs those of the tables whose contract has a life cycle, by tableKey. */
async function deployedGovernances(
  tx: Tx,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<ReadonlyMap<string, Governance>> {
  if (tables.length === 0) return new Map()
  const governances = await readGovernances((text, params) => tx.query(text, params), tables)
  const contracts = new Set([...governances.values()].flatMap(({ contract }) => contract?.id ?? []))
  const deployed = new Set<string>()
  for (const contract of contracts)
    if (await hasLifeCycle((text, params) => tx.query(text, params), tenant, contract)) deployed.add(contract)
  return new Map([...governances].filter(([, { contract }]) => contract && deployed.has(contract.id)))
}

/**
 * For a change that nobody asked for and so nobody can sign. Call it under the lock of contracts, before the change.
 * @returns called after the change, whether it loosens what a contract with a life cycle promises
 */
export async function loosensUnsigned(
  tx: Tx,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<() => Promise<boolean>> {
  const before = await deployedGovernances(tx, tenant, tables)
  return async () => before.size > 0 && (await loosenings(tx, before)).findings.length > 0
}

/** What is looser on each table than it was, in words, and the contracts that promised more. */
async function loosenings(
  tx: Tx,
  before: ReadonlyMap<string, Governance>,
  more: readonly string[] = [],
): Promise<{ readonly contracts: ReadonlySet<string>; readonly findings: readonly string[] }> {
  const refs = [...before.values()].map(({ ref }) => ref)
  const after = await readGovernances((text, params) => tx.query(text, params), refs)
  const contracts = new Set<string>()
  const findings = refs.flatMap((ref) => {
    const [old, now] = [before.get(tableKey(ref)), after.get(tableKey(ref))]
    // Without a governance nothing protects the table.
    const gone = { rowFilters: [], tags: [], columns: [] }
    const found = old === undefined ? [] : [...looseningsOf(old, now ?? gone), ...more]
    if (found.length > 0 && old?.contract) contracts.add(old.contract.id)
    return found.map((one) => `${tableName(ref)}: ${one}`)
  })
  return { contracts, findings }
}

/** @throws Unsigned */
async function useSignOff(
  tx: Tx,
  on: SignedContext,
  asked: AskedChange,
  { alsoLoosens }: Concern,
  before: ReadonlyMap<string, Governance>,
): Promise<void> {
  const { contracts, findings } = await loosenings(tx, before, (await alsoLoosens?.(tx)) ?? [])
  if (findings.length === 0) return
  const wanted = { contracts: [...contracts].sort(), findings: findings.toSorted() }
  const sha256 = createHash('sha256')
    .update(storableJson({ asked, ...wanted }))
    .digest('hex')
  const used = await tx.query(
    `update svc.loosening set used_at = clock_timestamp(), used_by = $3::text::jsonb
     where tenant_id = $1 and sha256 = decode($2, 'hex') and used_at is null and signed_at is not null
       and requested_at > clock_timestamp() - make_interval(days => ${looseningDaysMax})
     returning 1`,
    [on.tenant, sha256, storableJson(on.actor)],
  )
  if (used.length === 0) throw new Unsigned({ sha256, ...wanted })
}
