/**
 * Imports a contract document and puts it in force at once: the short way, without life cycle and without checks. One
 * transaction stores the version, ends the earlier one, and changes what governs the tables.
 */

import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { ContractAction } from '../../core/administration.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { RecordedChange } from '../../store/contract/changes.ts'
import { documentTagChanges, putDocumentTags } from '../../store/contract/document-tags.ts'
import { appendPin, type NewPin } from '../../store/contract/pins.ts'
import { governing, putInForce } from '../../store/contract/put-in-force.ts'
import {
  addVersion,
  type ContractVersion,
  hasLifeCycle,
  type RunQuery,
  setState,
  versionInForce,
} from '../../store/contract/versions.ts'
import type { Tx } from '../../store/database/session.ts'
import { loadGovernance } from '../../store/governance/governance.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { withCatalogSchemas } from '../catalog-schemas.ts'
import { type ChangeContext, changeContracts } from '../change.ts'
import { assertCompiles, syncCommitPolicies } from '../commit/sync-policies.ts'
import { findSnapshot } from '../pin-table.ts'
import { testProblemOf } from '../policy-tests/run-policy-tests.ts'
import { assertRules } from '../quality/check-rules.ts'
import { declaredBy } from './declared.ts'
import { hasDrifted } from './drift.ts'

interface PutDocument {
  readonly read: ReadDocument
  readonly format: DocumentFormat
  readonly action: Extract<ContractAction, 'put-contract-document' | 'edit-contract-document'>
  /** SHA-256 of the document that an edit began with; another one in force refuses it. */
  readonly editedFrom?: string
}

interface PutDocumentParts {
  readonly states: TableStates
  readonly clock: Clock
}

/** The version that is in force afterwards. */
export type PutVersion = Pick<ContractVersion, 'number' | 'sha256' | 'state' | 'unverified'>

/**
 * Puts a document in force. The bytes that are in force already change nothing, unless single changes have loosened
 * what they say: that is repaired under the same version.
 * @throws Fault `conflict` where another document is in force than the edit began with, or another contract governs a
 * table; `unprocessable` or `not_found` where it cannot be put in force
 */
export async function putDocument(
  parts: PutDocumentParts,
  on: ChangeContext,
  { read, format, action, editedFrom }: PutDocument,
): Promise<PutVersion> {
  const { tenant } = on
  const { model, bytes } = read
  const contract = model.id
  const problem = testProblemOf(model)
  if (problem !== undefined) throw new Fault('unprocessable', `${problem}.`)
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  const run: RunQuery = (text, params) => on.store.tenantQuery(tenant, text, params)
  const now = await versionInForce(run, tenant, contract)
  const again = now?.sha256 === sha256 && !now.lifeCycle ? now : undefined
  if (again !== undefined && !(await hasDrifted(on.store, tenant, again, model))) {
    const { coming, going, missing } = await documentTagChanges(run, tenant, model)
    if (coming.length + going.length + missing.length === 0) return again
  }
  const declared = declaredBy(model)
  assertCompiles(model)
  const pins = await wantedPins(parts, on, model)
  const found = await withCatalogSchemas(parts.states, on, tablesOf(model))
  await assertRules(found, model)
  let number = 0
  const value = { version: model.version, sha256, format }
  const made: Pick<RecordedChange, 'action' | 'subject'> = { action, subject: { contract } }
  await changeContracts(found, { ...made, value }, async (tx) => {
    await requireNoLifeCycle(tx, tenant, contract)
    const before = await versionInForce((text, params) => tx.query(text, params), tenant, contract)
    if (before?.sha256 !== (editedFrom ?? now?.sha256))
      throw new Fault('conflict', 'Another document was put in force meanwhile. Load it and try again.')
    const short = { state: 'active', unverified: true, lifeCycle: false }
    const version = { contract, format, body: bytes, sha256, model, ...short }
    if (before !== undefined && again === undefined) await setState(tx, tenant, before, 'retired')
    number = again?.number ?? (await addVersion(tx, tenant, { ...version, by: on.actor }))
    const concerned = await putInForce(tx, tenant, {
      contract,
      number,
      before: before?.model,
      after: model,
      declared,
    })
    await putDocumentTags(tx, tenant, on.actor, { contract, number, model }, () => true)
    for (const { table, pin } of pins)
      await appendPin(tx, tenant, { table, actor: on.actor, atMs: parts.clock.now() }, pin)
    await syncCommitPolicies(tx, tenant, contract, { nowMs: parts.clock.now(), by: on.actor })
    return concerned
  })
  return { number, sha256, state: 'active', unverified: true }
}

/** The tables that a model governs. */
export function tablesOf(model: ContractModel): readonly TableRef[] {
  return governing(model).map(({ table }) => ({ namespace: table.namespace, name: table.name }))
}

/** The pins of a model that differ from the tables' present ones. */
export async function wantedPins(
  { states }: Pick<PutDocumentParts, 'states'>,
  on: ChangeContext,
  model: ContractModel,
): Promise<readonly { readonly table: TableRef; readonly pin: NewPin }[]> {
  const wanted = governing(model).flatMap(({ table, pin }) => (pin === undefined ? [] : [{ table, pin }]))
  const found: { readonly table: TableRef; readonly pin: NewPin }[] = []
  for (const { table, pin } of wanted) {
    const snapshotId = BigInt(pin.snapshotId)
    const governance = await loadGovernance(on.store, on.tenant, table)
    if (governance?.pin?.snapshotId === snapshotId) continue
    found.push({ table, pin: await findSnapshot(states, on, table, { catalog: pin.catalog, snapshotId }) })
  }
  return found
}

/**
 * A contract with a life cycle is changed through it alone.
 * @throws Fault `conflict`
 */
export async function requireNoLifeCycle(tx: Tx, tenant: TenantId, contract: string): Promise<void> {
  if (await hasLifeCycle((text, params) => tx.query(text, params), tenant, contract))
    throw new Fault('conflict', `The contract ${contract} has a life cycle. Add a version to it instead.`)
}
