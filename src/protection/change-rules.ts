/** Saves and removes rules. A rule that one of its tables could not carry out is refused when it is saved. */

import { Fault } from '../base/fault.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { Actor } from '../core/administration.ts'
import { currentSchema } from '../core/seen-table.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { TransformRule, TransformTarget } from '../core/transform-rule.ts'
import { listCatalogCredentials } from '../store/catalog-credential/catalog-credentials.ts'
import { changeSigned, tablesOfSubject } from '../store/contract/change-signed.ts'
import { lockContracts, recordChange } from '../store/contract/changes.ts'
import { taggedTables } from '../store/contract/targets.ts'
import type { Tx } from '../store/database/session.ts'
import { readGovernance } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'
import { addScopeVersion } from '../store/transform/keys.ts'
import { presentRule, removeRule, saveRule } from '../store/transform/rules.ts'
import { scopePattern } from '../transform/plan.ts'
import { loadState, problemSentence, resolveGoverned } from './plan-table.ts'

interface RuleChange {
  readonly store: Store
  readonly states: TableStates
  readonly tenant: TenantId
  readonly actor: Actor
  readonly signal: AbortSignal
}

/**
 * Saves the rule of a column or tag.
 *
 * @throws Fault `bad_request` for a malformed rule, `not_found` for an unknown column, `unprocessable` where a table
 * cannot be protected so, `upstream_failed` where its catalog does not answer
 */
export async function putRule(on: RuleChange, target: TransformTarget, rule: TransformRule): Promise<void> {
  checkRule(target, rule)
  const { tenant, actor } = on
  // Catalogs are asked before the transaction, and again for each plan.
  const keyIds = rule.method === 'gcm' ? await keyFieldIdsOf(on, target) : undefined
  const asked = { action: 'put-transform-rule', subject: { ...target }, value: rule }
  let present: TransformRule | undefined
  const concern = {
    ...tablesOfSubject(asked.subject),
    // Nobody can tell whether another rule protects as much.
    alsoLoosens: async () =>
      present === undefined || Bun.deepEquals(present, rule)
        ? []
        : [`The transform rule of ${nameOf(target)} is another one`],
  }
  await changeSigned(on, asked, concern, async (tx) => {
    present = await presentRule(tx, tenant, target)
    const tables = await saveRule(tx, tenant, target, rule)
    for (const table of tables) await checkTable(tx, tenant, table, keyIds?.get(tableKey(table)) ?? new Set())
    await recordChange(tx, actor, { action: 'put-transform-rule', subject: { ...target }, value: rule })
  })
}

/** @throws Fault `unprocessable` */
async function checkTable(tx: Tx, tenant: TenantId, table: TableRef, keyIds: ReadonlySet<number>) {
  const run = <R extends object>(text: string, params: readonly string[]) => tx.query<R>(text, params)
  const governance = await readGovernance(run, table)
  if (governance === undefined) return
  const known = { governed: governance.columns, schema: currentSchema(governance), keyFieldIds: keyIds }
  const { problems } = await resolveGoverned(run, tenant, table, known)
  if (problems.length > 0) throw new Fault('unprocessable', problemSentence(table, problems))
}

/** By which fields rows of the target's tables are placed or found, in every catalog that has them, by tableKey. */
async function keyFieldIdsOf(
  on: RuleChange,
  target: TransformTarget,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const { store, tenant, signal } = on
  const tables =
    'tag' in target
      ? await store.tenantTransaction(tenant, (tx) => taggedTables(tx, target.tag))
      : [target.table]
  if (tables.length > checkedTablesMax)
    throw new Fault(
      'unprocessable',
      `More than ${checkedTablesMax} tables have this tag: declare random encryption by column.`,
    )
  const { items } = await listCatalogCredentials(store, tenant)
  const found = new Map<string, ReadonlySet<number>>()
  for (const table of tables)
    for (const { nickname } of items) {
      const ids = await loadState(on, tenant, table, nickname, signal).then(
        ({ state }) => state.keyFieldIds,
        (thrown: unknown) => {
          if (thrown instanceof Fault && thrown.kind === 'not_found') return new Set<number>()
          throw thrown
        },
      )
      found.set(tableKey(table), new Set([...(found.get(tableKey(table)) ?? []), ...ids]))
    }
  return found
}

const nameOf = (target: TransformTarget) =>
  'tag' in target ? `the tag ${target.tag}` : `column ${target.column}`

/** Tables whose partitions are looked at when a rule of a tag is saved. */
const checkedTablesMax = 50

/**
 * Removes the rule of a column or tag: the values are written in clear from the next plan on.
 *
 * @returns whether there was one
 */
export async function deleteRule(
  on: Pick<RuleChange, 'store' | 'tenant' | 'actor'>,
  target: TransformTarget,
): Promise<boolean> {
  const { tenant, actor } = on
  const asked = { action: 'delete-transform-rule', subject: { ...target } }
  let removed = false
  const concern = {
    ...tablesOfSubject(asked.subject),
    alsoLoosens: async () => (removed ? [`The transform rule of ${nameOf(target)} is removed`] : []),
  }
  return await changeSigned(on, asked, concern, async (tx) => {
    removed = await removeRule(tx, tenant, target)
    if (removed) await recordChange(tx, actor, { action: 'delete-transform-rule', subject: { ...target } })
    return removed
  })
}

/**
 * Begins the next key version of a scope. Tokens change with it, so that joins with rows of before need re-protection.
 *
 * @returns the id of the new key
 */
export async function rotateScope(
  { store, tenant, actor }: Pick<RuleChange, 'store' | 'tenant' | 'actor'>,
  scope: string,
): Promise<string> {
  if (!scopePattern.test(scope)) throw new Fault('bad_request', 'The scope is not well-formed.')
  return await store.tenantTransaction(tenant, async (tx) => {
    await lockContracts(tx)
    const kid = `k${await addScopeVersion(tx, tenant, scope)}`
    await recordChange(tx, actor, { action: 'rotate-transform-scope', subject: { scope }, value: { kid } })
    return kid
  })
}

function checkRule(target: TransformTarget, rule: TransformRule): void {
  const { action, mask, method, scope, alphabet, subject_key_of: of, subject_kind: kind } = rule
  const keyed = action === 'tokenize' || action === 'encrypt'
  if (mask !== undefined && action !== 'mask')
    throw new Fault('bad_request', '`mask` goes with the action mask.')
  if (keyed !== (method !== undefined))
    throw new Fault('bad_request', '`method` goes with the actions tokenize and encrypt, which need it.')
  if (!keyed && scope !== undefined)
    throw new Fault('bad_request', '`scope` goes with the actions tokenize and encrypt.')
  if ((method === 'ff1') !== (alphabet !== undefined))
    throw new Fault('bad_request', '`alphabet` goes with the method ff1, which needs it.')
  if (of !== undefined && action !== 'encrypt')
    throw new Fault('bad_request', '`subject_key_of` goes with the action encrypt.')
  if (kind !== undefined && (of === undefined || !scopePattern.test(kind)))
    throw new Fault(
      'bad_request',
      '`subject_kind` goes with `subject_key_of`: letters, digits, dots, hyphens and underscores, at most 128.',
    )
  const named = scope ?? ('tag' in target ? target.tag : undefined)
  if (keyed && (named === undefined || !scopePattern.test(named)))
    throw new Fault(
      'bad_request',
      'Name a `scope` of letters, digits, dots, hyphens and underscores, at most 128.',
    )
}
