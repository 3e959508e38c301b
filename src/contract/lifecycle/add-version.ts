/** Adds a version to a contract's life cycle, as a draft that governs nothing. */

import { Fault } from '../../base/fault.ts'
import { tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lockContracts } from '../../store/contract/changes.ts'
import { recordMove } from '../../store/contract/life-cycle.ts'
import { governing, governorOf } from '../../store/contract/put-in-force.ts'
import { addVersion, type ContractVersion, findVersion, newestNumber } from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { type ChangeContext, changeIn } from '../change.ts'
import { assertCompiles } from '../commit/sync-policies.ts'
import { declaredBy } from '../document/declared.ts'
import { assertRules } from '../quality/check-rules.ts'
import { type LifeCycleParts, moveIn } from './move-version.ts'
import type { VersionName } from './step.ts'

/**
 * Adds a draft. A version in force that came the short way is where the life cycle begins.
 * @throws Fault `conflict` where a table is under another contract, `unprocessable` for a declaration beyond the limits
 */
export async function addDraft(
  on: ChangeContext,
  read: ReadDocument,
  format: DocumentFormat,
): Promise<ContractVersion> {
  await assertRules(on, read.model)
  return await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    return await addDraftIn(tx, on, read, { format })
  })
}

/**
 * Adds a version and proposes it, in one transaction: what was found of it decides who must sign it.
 * @throws Fault as {@link addDraft} and `moveVersion`; then nothing was added
 */
export async function proposeVersion(
  parts: LifeCycleParts,
  on: ChangeContext,
  read: ReadDocument,
  draft: NewDraft,
): Promise<VersionName> {
  await assertRules(on, read.model)
  return await on.store.tenantTransaction(on.tenant, async (tx) => {
    await lockContracts(tx)
    const { contract, number } = await addDraftIn(tx, on, read, draft)
    await moveIn(tx, parts, on, { name: { contract, number }, move: 'propose', reason: draft.reason })
    return { contract, number }
  })
}

interface NewDraft {
  readonly format: DocumentFormat
  readonly managedBy?: string
  /** Why the change is wanted; shown with the move. */
  readonly reason?: string | undefined
  /** The number of the contract's newest version, 0 for none; where it is another, nothing is added. */
  readonly expectedNewest?: number | undefined
}

/** As {@link addDraft}, as one of the changes of a transaction that holds the lock of contracts. */
export async function addDraftIn(
  tx: Tx,
  on: ChangeContext,
  { bytes, model }: ReadDocument,
  { format, managedBy, reason, expectedNewest }: NewDraft,
): Promise<ContractVersion> {
  const { tenant } = on
  const contract = model.id
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  // What cannot be put in force must not look as if it could.
  declaredBy(model)
  assertCompiles(model)
  let added: ContractVersion | undefined
  const value = { version: model.version, sha256, format, ...(managedBy !== undefined && { managedBy }) }
  await changeIn(tx, on, { action: 'add-contract-version', subject: { contract }, value }, async () => {
    for (const { table } of governing(model)) {
      const governor = await governorOf(tx, table)
      if (governor !== undefined && governor !== contract)
        throw new Fault(
          'conflict',
          `The table ${tableName(table)} is under the contract ${governor}. End that first.`,
        )
    }
    const made = {
      contract,
      format,
      body: bytes,
      sha256,
      model,
      state: 'draft',
      unverified: false,
      lifeCycle: true,
      managedBy,
    }
    if (expectedNewest !== undefined) await assertNewest(tx, tenant, contract, expectedNewest)
    const number = await addVersion(tx, tenant, { ...made, by: on.actor })
    const run = <Row extends object>(text: string, params?: Parameters<typeof tx.query>[1]) =>
      tx.query<Row>(text, params)
    added = await findVersion(run, tenant, { contract, number })
    if (added !== undefined)
      await recordMove(tx, tenant, added, {
        move: 'import',
        from: undefined,
        to: 'draft',
        auto: false,
        reason,
        by: on.actor,
      })
    return []
  })
  if (added === undefined) throw new Fault('internal', 'Internal error.')
  return added
}

/** @throws Fault `conflict` where the newest version of a contract has another number */
async function assertNewest(tx: Tx, tenant: TenantId, contract: string, expected: number): Promise<void> {
  const newest = await newestNumber((text, params) => tx.query(text, params), tenant, contract)
  if (newest !== expected)
    throw new Fault('conflict', `The newest version of the contract is ${newest}, not ${expected}.`)
}
