/** Declares the operations on check runs: request, list, show with results, history, cancel, resume. */

import { Type } from '@sinclair/typebox'
import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import type { Actor, ContractAction } from '../../core/administration.ts'
import type { StoredCheckRun } from '../../core/check-run.ts'
import {
  checkCauses,
  checkKinds,
  checkOutcomes,
  checkRunStates,
  type NewCheckRun,
  severities,
} from '../../core/check-run.ts'
import { readsAllRecords } from '../../core/oversight.ts'
import { tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { tablePageRequest } from '../../http/page-view.ts'
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
  ordinal,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { findCheckRun, listCheckRuns, resultsOfRun } from '../../store/check/check-results.ts'
import { cancelCheckRun, requestCheckRun, resumeCheckRun } from '../../store/check/check-runs.ts'
import { listResults } from '../../store/check/checks-of-tables.ts'
import { recordChange } from '../../store/contract/changes.ts'
import { type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import { isUuid } from '../../store/database/page.ts'
import type { Tx } from '../../store/database/session.ts'
import { type Sight, sightsOf } from '../../store/governance/table-sight.ts'
import type { Store } from '../../store/store.ts'
import { changing, operation, reading } from '../parts.ts'
import { placedRules, schemaOf } from '../quality/plan-checks.ts'
import { referencesOf } from '../quality/references.ts'
import { chooseSnapshot } from './plan-deployment.ts'
import { isShown, seenResult, seenRun } from './sight.ts'

const tag = 'checks'
const capability = 'contracts'
const pair = tenantOperationsOf<{ readonly store: Store }>()
const noRun = { not_found: 'There is no such run, or it is not shown to you yet.' }

const runMembers = {
  id: uuid,
  kind: oneOf(checkKinds),
  contract: text,
  number: described(ordinal, 'of the contract’s version'),
  table: tableIdentifier,
  catalog: text,
  snapshot_id: maybe(described(text, 'a 64-bit number; absent where the table had no snapshot')),
  current_snapshot_id: maybe(described(text, 'the table’s snapshot when the run was requested')),
  cause: oneOf(checkCauses),
  state: maybe(described(oneOf(checkRunStates), 'absent where something of the table is hidden from you')),
  requested_at: time,
  requested_by: text,
  started_at: maybe(time),
  finished_at: maybe(time),
  ms: maybe(described(Type.Number(), 'of all attempts')),
  progress: maybe(
    object({
      ...{ steps_done: wholeNumber, steps: maybe(wholeNumber) },
      ...{ rows: described(text, 'a 64-bit number'), bytes: described(text, 'a 64-bit number') },
    }),
  ),
  reason: maybe(described(text, 'why it ended in error: a SQLSTATE or a word')),
}
const result = {
  key: described(text, 'names the check within the contract'),
  column: maybe(text),
  metric: text,
  severity: oneOf(severities),
  custom: described(flag, 'whether the contract’s author wrote the statement'),
  outcome: oneOf(checkOutcomes),
  value: maybe(described(text, 'a number or boolean')),
  unit: maybe(text),
  operator: maybe(text),
  threshold: maybe(Type.Unknown()),
  engine: maybe(text),
  ms: maybe(Type.Number()),
  reason: maybe(described(text, 'why there is no value: a SQLSTATE or a word')),
  detail: maybe(anyObject),
}

/** A run as a principal sees it. */
function runView(stored: StoredCheckRun, sight: Sight) {
  const { took, ...run } = seenRun(stored, sight)
  const { runId: id, kind, contract, number, table, catalog, cause, state, requestedAt, requestedBy } = run
  const seen = {
    ...{
      id,
      kind,
      contract,
      number,
      table,
      catalog,
      cause,
      ...(state !== undefined && { state }),
      requested_at: requestedAt,
      requested_by: requestedBy,
    },
    ...(run.snapshotId !== undefined && { snapshot_id: String(run.snapshotId) }),
    ...(run.currentSnapshotId !== undefined && { current_snapshot_id: String(run.currentSnapshotId) }),
  }
  if (took === undefined) return seen
  const { startedAt, finishedAt, spentMs, steps, stepsDone, rowsRead, bytesRead, reason } = took
  return {
    ...{ ...seen, ms: spentMs },
    ...(startedAt !== undefined && { started_at: startedAt }),
    ...(finishedAt !== undefined && { finished_at: finishedAt }),
    progress: {
      steps_done: stepsDone,
      ...(steps !== undefined && { steps }),
      rows: String(rowsRead),
      bytes: String(bytesRead),
    },
    ...(reason !== '' && { reason }),
  }
}

async function needRun(store: Store, tenant: TenantId, id: string): Promise<StoredCheckRun> {
  const run = isUuid(id) ? await findCheckRun(store, tenant, id) : undefined
  if (run === undefined) throw new Fault('not_found', noRun.not_found)
  return run
}

/** Makes a change of a run, with its record. */
async function changeRun(
  { store, tenant, actor }: { readonly store: Store; readonly tenant: TenantId; readonly actor: Actor },
  action: ContractAction,
  subject: Readonly<Record<string, unknown>>,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  await store.tenantTransaction(tenant, async (tx) => {
    await work(tx)
    await recordChange(tx, actor, { action, subject })
  })
}

/** Operations on runs that need the store alone; also the administration commands. */
export const checkRunOperations = [
  ...pair({
    name: 'list_check_runs',
    tag,
    summary: 'Check runs, newest first',
    method: 'GET',
    path: '/checks/runs',
    access: { ...reading, capability },
    gives: { visible: ['existence', 'counts'], overseen: ['existence', 'counts'], overseers: ['steward'] },
    input: { ...tableFilter, contract: maybe(nonEmpty), kind: maybe(oneOf(checkKinds)), ...pageInput },
    output: pageOf(object(runMembers)),
    run: async ({ parts: { store }, tenant, actor }, { contract, kind, ...page }) => {
      const principal = await actor()
      const readableOnly = !readsAllRecords(principal)
      const found = await listCheckRuns(store, tenant, {
        ...{ contract, kind, readableOnly },
        ...tablePageRequest(page),
      })
      const sights = await sightsOf(
        store,
        tenant,
        principal,
        found.items.map(({ table }) => table),
      )
      const items = found.items.flatMap((run) => {
        const sight = sights.get(tableKey(run.table))
        return sight !== undefined && isShown(run, sight, Date.now()) ? [runView(run, sight)] : []
      })
      return { items, next_page_token: found.next }
    },
  }),
  ...pair({
    name: 'get_check_run',
    tag,
    summary: 'A check run with its progress and results, as far as you may see them',
    method: 'GET',
    path: '/checks/runs/{id}',
    access: { ...reading, capability },
    gives: {
      visible: ['existence', 'columns', 'values', 'counts'],
      overseen: ['existence', 'columns', 'values', 'counts'],
      overseers: ['steward'],
    },
    input: { id: uuid },
    output: object({ ...runMembers, results: list(object(result)) }),
    faults: noRun,
    run: async ({ parts: { store }, tenant, actor }, { id }) => {
      const run = await needRun(store, tenant, id)
      const sight = (await sightsOf(store, tenant, await actor(), [run.table])).get(tableKey(run.table))
      if (sight === undefined || !isShown(run, sight, Date.now()))
        throw new Fault('not_found', noRun.not_found)
      const results = (await resultsOfRun(store, tenant, id)).flatMap((one) => seenResult(one, sight) ?? [])
      return { ...runView(run, sight), results }
    },
  }),
  ...pair({
    name: 'cancel_check_run',
    tag,
    summary: 'Cancels a check run; that of a deployment ends the deployment',
    method: 'POST',
    path: '/checks/runs/{id}/cancel',
    access: { ...changing, capability },
    gives: { nothing: 'own input' },
    input: { id: uuid },
    output: object({ id: uuid, state: oneOf(checkRunStates) }),
    faults: { ...noRun, conflict: 'The run has ended.' },
    run: async ({ parts: { store }, tenant, actor }, { id }) => {
      await needRun(store, tenant, id)
      let state: StoredCheckRun['state'] | undefined
      await changeRun({ store, tenant, actor: await actor() }, 'cancel-checks', { run: id }, async (tx) => {
        state = await cancelCheckRun((query, params) => tx.query(query, params), tenant, id)
        if (state === undefined) throw new Fault('conflict', 'The run has ended.')
      })
      return { id, state: state ?? 'cancelled' }
    },
  }),
  ...pair({
    name: 'resume_check_run',
    tag,
    summary: 'Goes on with a check run that was cancelled or given up, after its last finished step',
    method: 'POST',
    path: '/checks/runs/{id}/resume',
    access: { ...changing, capability },
    gives: { nothing: 'own input' },
    input: { id: uuid },
    output: object({ id: uuid, state: oneOf(checkRunStates) }),
    faults: { ...noRun, conflict: 'The run did not stop, measured an error, or belongs to a deployment.' },
    run: async ({ parts: { store }, tenant, actor }, { id }) => {
      await needRun(store, tenant, id)
      await changeRun({ store, tenant, actor: await actor() }, 'resume-checks', { run: id }, async (tx) => {
        if (!(await resumeCheckRun((query, params) => tx.query(query, params), tenant, id)))
          throw new Fault('conflict', 'The run did not stop, measured an error, or belongs to a deployment.')
      })
      return { id, state: 'queued' as const }
    },
  }),
]

/** Operations on checks that need the catalogs too. */
export const checkOperations = [
  operation({
    name: 'request_check_run',
    tag,
    summary: 'Runs the checks of the version in force on a table’s snapshot',
    method: 'POST',
    path: '/api/v1/checks/runs',
    access: { ...changing, capability },
    gives: { nothing: 'own input' },
    input: object({
      contract: nonEmpty,
      namespace: list(nonEmpty, { minItems: 1 }),
      table: nonEmpty,
      catalog: maybe(described(nonEmpty, 'nickname; needed where several catalogs have the table')),
      snapshot_id: maybe(described(int64, 'default: the pinned snapshot, else the current one')),
      checks: maybe(described(list(nonEmpty, { minItems: 1 }), 'keys; default: all')),
    }),
    output: object({ id: uuid }),
    status: 202,
    faults: {
      not_found: 'The contract has no version in force, or does not govern the table.',
      unprocessable: 'No catalog has the table, or it has no such snapshot; or there is no such check.',
    },
    run: async ({ parts, caller }, { contract, namespace, table: name, catalog, snapshot_id, checks }) => {
      const { store, states } = parts
      const { tenant } = caller
      const actor = await caller.actor()
      const table = addressed({ namespace, table: name })
      const query: RunQuery = (statement, params) => store.tenantQuery(tenant, statement, params)
      const version = await versionInForce(query, tenant, contract)
      if (version === undefined) throw new Fault('not_found', 'The contract has no version in force.')
      const schema = schemaOf(version.model, table)
      const keys = placedRules(schema).flatMap(({ key, formerKey = key }) => [key, formerKey])
      assertKnown([...keys, ...referencesOf(version.model, schema).map(({ key }) => key)], checks)
      const chosen = await chooseSnapshot(states, { store, tenant }, table, {
        catalog,
        snapshotId: snapshot_id,
      })
      const asked: NewCheckRun = {
        ...{ kind: 'quality', contract, number: version.number, table, cause: 'request', by: actor },
        ...{ ...chosen, input: checks === undefined ? {} : { checks } },
      }
      let id = ''
      await changeRun({ store, tenant, actor }, 'request-checks', { contract, table }, async (tx) => {
        id = (await requestCheckRun((statement, params) => tx.query(statement, params), tenant, asked)).runId
      })
      parts.checks.wake()
      return { id }
    },
  }),
  operation({
    name: 'list_check_results',
    tag,
    summary: 'The history of a table’s checks, newest first',
    method: 'GET',
    path: '/api/v1/checks/results',
    access: { ...reading, capability },
    gives: {
      visible: ['existence', 'columns', 'values', 'counts'],
      overseen: ['existence', 'columns', 'values', 'counts'],
      overseers: ['steward'],
    },
    input: object({
      ...tableFilter,
      check: maybe(described(nonEmpty, 'key of one check')),
      ...pageInput,
    }),
    output: pageOf(object({ ...result, run: uuid, snapshot_id: maybe(text), at: maybe(time) })),
    faults: { bad_request: 'The table is missing.' },
    run: async ({ parts: { store }, caller }, { check, ...page }) => {
      const request = tablePageRequest(page)
      const { table } = request
      if (table === undefined) throw new Fault('bad_request', '`namespace` and `table` are required.')
      const found = await listResults(store, caller.tenant, { ...request, table, check })
      const sight = (await sightsOf(store, caller.tenant, caller.principal, [table])).get(tableKey(table))
      const items = found.items.flatMap(({ run, result: one }) => {
        const seen =
          sight !== undefined && isShown(run, sight, Date.now()) ? seenResult(one, sight) : undefined
        if (seen === undefined || sight === undefined) return []
        const snapshot = run.snapshotId === undefined ? {} : { snapshot_id: String(run.snapshotId) }
        return [{ ...seen, run: run.runId, ...snapshot, ...(sight.isWhole && { at: one.at }) }]
      })
      return { items, next_page_token: found.next }
    },
  }),
]

/** @throws Fault `unprocessable` */
function assertKnown(keys: readonly string[], wanted: readonly string[] | undefined): void {
  const missing = wanted?.find((key) => !keys.includes(key) && !key.startsWith('sla.'))
  if (missing !== undefined) throw new Fault('unprocessable', `The table has no check ${missing}.`)
}
