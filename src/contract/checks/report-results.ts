/**
 * Declares the operation that puts results on record which another tool measured, for the rules of type `custom` of the
 * version in force. Nothing is executed, and no deployment waits for such a result. What a custom rule reads is not
 * known, so its result is shown only to those from whom nothing of the table is hidden.
 */

import { Fault } from '../../base/fault.ts'
import type { CheckFinding, NewCheckRun } from '../../core/check-run.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  addressed,
  described,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  number,
  object,
  oneOf,
  uuid,
} from '../../http/schemas.ts'
import { addExternalRun } from '../../store/check/external-runs.ts'
import { recordChange } from '../../store/contract/changes.ts'
import { type RunQuery, versionInForce } from '../../store/contract/versions.ts'
import { loadGovernance } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import { changing, operation } from '../parts.ts'
import { failedAs, severityOf } from '../quality/judge.ts'
import { type PlacedRule, placedRules, schemaOf } from '../quality/plan-checks.ts'
import { chooseSnapshot } from './plan-deployment.ts'

/** Results of one report. */
const resultsMax = 500
const reportedOutcomes = ['passed', 'failed', 'error'] as const

interface Reported {
  readonly check: string
  readonly outcome: (typeof reportedOutcomes)[number]
  readonly value?: number | undefined
}

/** The operation. */
export const reportOperations = [
  operation({
    name: 'report_check_results',
    tag: 'checks',
    summary: 'Puts results of `custom` rules on record, which another tool has measured',
    description: 'They make a check run of the cause `external` that has ended. No deployment waits for it.',
    method: 'POST',
    path: '/api/v1/checks/results',
    access: { ...changing, capability: 'contracts' },
    gives: { nothing: 'own input' },
    input: object({
      contract: nonEmpty,
      namespace: list(nonEmpty, { minItems: 1 }),
      table: nonEmpty,
      catalog: maybe(described(nonEmpty, 'nickname; needed where several catalogs have the table')),
      snapshot_id: maybe(described(int64, 'that was measured; absent where the tool does not say')),
      once_key: maybe(
        described({ ...nonEmpty, maxLength: 200 }, 'a second report with the same key finds the first one'),
      ),
      link: maybe(
        described({ ...nonEmpty, maxLength: 2_000 }, 'an http(s) address that shows where it was measured'),
      ),
      results: list(
        object({
          check: described(nonEmpty, 'key of a rule of type `custom`'),
          outcome: oneOf(reportedOutcomes),
          value: maybe(described(number, 'that was measured; no value of the data')),
        }),
        { minItems: 1, maxItems: resultsMax },
      ),
    }),
    output: object({ id: described(uuid, 'of the check run'), new: flag }),
    status: 201,
    faults: {
      not_found: 'The contract has no version in force, or does not govern the table.',
      unprocessable: 'No catalog has the table or the snapshot; a check is no `custom` rule.',
    },
    run: async ({ parts, caller }, { results, link, snapshot_id: wanted, once_key: key, ...at }) => {
      const { store, states } = parts
      const { tenant } = caller
      const actor = await caller.actor()
      const table = addressed(at)
      const query: RunQuery = (statement, params) => store.tenantQuery(tenant, statement, params)
      const version = await versionInForce(query, tenant, at.contract)
      if (version === undefined) throw new Fault('not_found', 'The contract has no version in force.')
      const rules = placedRules(schemaOf(version.model, table))
      if (link !== undefined) assertLink(link)
      const chosen = await chooseSnapshot(states, { store, tenant }, table, {
        ...{ catalog: at.catalog, snapshotId: wanted },
      })
      const fieldIds = await everyColumn(store, tenant, table)
      const findings = results.map((one) => ({
        ...findingOf(ruleOf(rules, one.check), one, link),
        fieldIds,
      }))
      if (new Set(findings.map((one) => one.key)).size < findings.length)
        throw new Fault('bad_request', 'A check has two results.')
      const asked: NewCheckRun = {
        ...{ kind: 'quality', contract: at.contract, number: version.number, table, ...chosen },
        ...{ snapshotId: wanted, cause: 'external', input: {}, by: actor },
        ...(key !== undefined && { onceKey: `external ${at.contract} ${key}` }),
      }
      return await store.tenantTransaction(tenant, async (tx) => {
        const { runId, isNew } = await addExternalRun(tx, tenant, asked, findings)
        const subject = { contract: at.contract, table, run: runId }
        if (isNew) await recordChange(tx, actor, { action: 'report-check-results', subject })
        return { id: runId, new: isNew }
      })
    },
  }),
]

/** @throws Fault `unprocessable` */
function ruleOf(rules: readonly PlacedRule[], key: string): PlacedRule {
  const found = rules.find((one) => one.key === key) ?? rules.find((one) => one.formerKey === key)
  if (found?.rule.type !== 'custom')
    throw new Fault('unprocessable', `The table has no check ${key} of type custom.`)
  return found
}

/** The standard gives `custom` rules no threshold, so the outcome is the tool's. */
function findingOf(
  { key, rule, element }: PlacedRule,
  { outcome, value }: Reported,
  link: string | undefined,
): Omit<CheckFinding, 'fieldIds'> {
  const severity = severityOf(rule.severity)
  const [, , engine] = JSON.parse(rule.measures) as readonly unknown[]
  return {
    ...{ key, element, metric: rule.type, severity, custom: true, unit: rule.unit },
    outcome: outcome === 'failed' ? failedAs(severity) : outcome,
    engine: typeof engine === 'string' ? engine : 'external',
    ...(value !== undefined && { value: String(value) }),
    ...(outcome === 'error' && { reason: 'external' }),
    ...(link !== undefined && { detail: { link } }),
  }
}

/** @throws Fault `bad_request` */
function assertLink(link: string): void {
  const url = URL.parse(link)
  const isPlain = url?.username === '' && url.password === ''
  if (url === null || !isPlain || !['https:', 'http:'].includes(url.protocol))
    throw new Fault('bad_request', '`link` must be an http(s) address without a user or password.')
}

/** All columns of the table: a custom rule may have read each. */
async function everyColumn(
  store: Store,
  tenant: TenantId,
  table: NewCheckRun['table'],
): Promise<readonly number[]> {
  const governance = await loadGovernance(store, tenant, table)
  const known = governance?.columns.map(({ fieldId }) => fieldId) ?? []
  // No column has the number 0, so with it only stewards see the result.
  return known.length > 0 ? known : [0]
}
