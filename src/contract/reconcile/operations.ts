/** Declares the operations that compare a table with another engine or a source: request, and differences on demand. */

import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { NewCheckRun } from '../../core/check-run.ts'
import type { SystemReads } from '../../core/system-read.ts'
import { tableKey } from '../../core/table-ref.ts'
import { operationsOf } from '../../http/declare.ts'
import {
  addressed,
  anyObject,
  described,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  text,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { findCheckRun, findRunInput } from '../../store/check/check-results.ts'
import { requestCheckRun } from '../../store/check/check-runs.ts'
import { recordChange } from '../../store/contract/changes.ts'
import { columnOf, governing } from '../../store/contract/put-in-force.ts'
import { findVersion, type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import { isUuid } from '../../store/database/page.ts'
import { sightsOf } from '../../store/governance/table-sight.ts'
import type { Store } from '../../store/store.ts'
import type { ContractModel, ModelCounterpart } from '../../wire/odcs/model.ts'
import { type CheckService, chooseSnapshot } from '../checks/plan-deployment.ts'
import { isShown } from '../checks/sight.ts'
import { changing } from '../parts.ts'
import { locateDifferences } from './locate-differences.ts'
import { counterpartsOf } from './sides.ts'

interface ReconcileParts {
  readonly store: Store
  readonly states: TableStates
  readonly checks: CheckService
  readonly reads: SystemReads
  readonly addressRules: AddressRules
}

const operation = operationsOf<ReconcileParts>()
const tag = 'checks'
const access = { ...changing, capability: 'contracts' } as const
/** For one search for differences. */
const locateMs = 120_000

export const reconcileOperations = [
  operation({
    name: 'request_reconciliation',
    tag,
    summary: 'Compares a snapshot of a table with the other engine, or with a table of a PostgreSQL source',
    method: 'POST',
    path: '/api/v1/checks/reconciliations',
    access,
    gives: { nothing: 'own input' },
    input: object({
      contract: nonEmpty,
      namespace: list(nonEmpty, { minItems: 1 }),
      table: nonEmpty,
      catalog: maybe(described(nonEmpty, 'nickname; needed where several catalogs have the table')),
      snapshot_id: maybe(described(int64, 'default: the pinned snapshot, else the current one')),
      engine: maybe(oneOf(['duckdb', 'trino'])),
      source: maybe(described(nonEmpty, 'name of a source; goes with `source_table`')),
      source_table: maybe(described(nonEmpty, '`schema.table` in the source')),
    }),
    output: object({ id: described(uuid, 'of the check run') }),
    status: 202,
    faults: {
      not_found: 'The contract has no version in force, or does not govern the table.',
      unprocessable:
        'No catalog has the table, it has no such snapshot, or nothing says what to compare it with.',
    },
    run: async ({ parts, caller }, { contract, namespace, table: name, ...asked }) => {
      const { store, states } = parts
      const { tenant } = caller
      const table = addressed({ namespace, table: name })
      const query: RunQuery = (statement, params) => store.tenantQuery(tenant, statement, params)
      const version = await versionInForce(query, tenant, contract)
      const schema = governing(version?.model).find((one) => tableKey(one.table) === tableKey(table))
      if (version === undefined || schema === undefined)
        throw new Fault('not_found', 'The contract has no version in force, or does not govern the table.')
      const counterparts = askedCounterparts(asked) ?? schema.reconciliation
      if (counterparts === undefined)
        throw new Fault('unprocessable', 'Name an engine, or a source: the contract names none.')
      const chosen = await chooseSnapshot(states, { store, tenant }, table, {
        catalog: asked.catalog,
        snapshotId: asked.snapshot_id,
      })
      const actor = await caller.actor()
      const run: NewCheckRun = {
        ...{ kind: 'reconciliation', contract, number: version.number, table, cause: 'request', by: actor },
        ...{ ...chosen, input: { counterparts } },
      }
      const id = await store.tenantTransaction(tenant, async (tx) => {
        const { runId } = await requestCheckRun((text_, params) => tx.query(text_, params), tenant, run)
        await recordChange(tx, actor, {
          action: 'request-checks',
          subject: { contract, table },
          value: { counterparts },
        })
        return runId
      })
      parts.checks.wake()
      return { id }
    },
  }),
  operation({
    name: 'locate_differences',
    tag,
    summary: 'Reads how and in which rows the two sides of a reconciliation differ; nothing of it is kept',
    description:
      'It scans both sides. Only who may see every value of the columns and of the key is answered.',
    method: 'POST',
    path: '/api/v1/checks/runs/{id}/differences',
    access,
    gives: { visible: ['existence', 'columns', 'values', 'counts'] },
    input: object({
      id: uuid,
      columns: maybe(described(list(nonEmpty, { maxItems: 100 }), 'default: all')),
      key: maybe(
        described(list(nonEmpty, { minItems: 1, maxItems: 32 }), 'default: the primary key of the contract'),
      ),
      counterpart: maybe(described(wholeNumber, 'which one of the run, from 0')),
    }),
    output: object({
      measures: list(object({ column: text, measure: text, left: text, right: text })),
      keys: list(
        object({
          key: described(anyObject, 'its columns with their values'),
          left: described(wholeNumber, 'rows that only this side has'),
          right: described(wholeNumber, 'rows that only the other side has'),
        }),
      ),
      complete: described(flag, 'whether these are all keys that differ'),
      parts: described(wholeNumber, 'parts of all rows that differ, of 1,024'),
    }),
    faults: {
      not_found: 'There is no such run, or it is not shown to you yet.',
      forbidden: 'A filter or mask hides a part of what is compared.',
      unprocessable: 'The run compares nothing of that number, or there is no key.',
    },
    run: async ({ parts, caller, signal }, { id, columns = [], key, counterpart = 0 }) => {
      const { store } = parts
      const { tenant, principal } = caller
      const run = isUuid(id) ? await findCheckRun(store, tenant, id) : undefined
      const sight = run && (await sightsOf(store, tenant, principal, [run.table])).get(tableKey(run.table))
      if (run === undefined || sight === undefined || !isShown(run, sight, Date.now()))
        throw new Fault('not_found', 'There is no such run, or it is not shown to you yet.')
      if (!sight.isWhole) throw new Fault('forbidden', 'A filter or mask hides a part of what is compared.')
      const query: RunQuery = (statement, params) => store.tenantQuery(tenant, statement, params)
      const version = await findVersion(query, tenant, { contract: run.contract, number: run.number })
      const chosen = counterpartsOf(await findRunInput(store, tenant, id))[counterpart]
      const keyed = key ?? primaryKey(version?.model, tableKey(run.table))
      if (run.kind !== 'reconciliation' || chosen === undefined || keyed.length === 0)
        throw new Fault(
          'unprocessable',
          'The run compares nothing of that number, or there is no key: name one.',
        )
      const compared = { tenant, catalog: run.catalog, table: run.table, snapshotId: run.snapshotId }
      const limited = AbortSignal.any([signal, AbortSignal.timeout(locateMs)])
      return await locateDifferences(parts, compared, chosen, { columns, key: keyed }, limited)
    },
  }),
]

/** @throws Fault `bad_request` where it names an engine and a source, or half a source */
function askedCounterparts({
  engine,
  source,
  source_table: table,
}: {
  readonly engine?: 'duckdb' | 'trino' | undefined
  readonly source?: string | undefined
  readonly source_table?: string | undefined
}): readonly ModelCounterpart[] | undefined {
  if (engine === undefined && source === undefined && table === undefined) return undefined
  if (engine !== undefined && source === undefined && table === undefined) return [{ engine, required: true }]
  if (engine === undefined && source !== undefined && table !== undefined) return [{ source, table }]
  throw new Fault('bad_request', 'Give `engine`, or `source` with `source_table`.')
}

function primaryKey(model: ContractModel | undefined, table: string): readonly string[] {
  const schema = governing(model).find((one) => tableKey(one.table) === table)
  return (schema?.properties ?? []).filter(({ primaryKey: isKey }) => isKey).map(columnOf)
}
