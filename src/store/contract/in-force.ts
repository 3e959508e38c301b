/**
 * Finds when versions of contracts were in force: by their moves, by their import where they were put in force at once,
 * and by the records of deleted documents. Contracts on tables without a document have no versions and are not found.
 */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import type { DocumentFormat } from '../../wire/odcs/read-document.ts'
import { type Condition, given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { governing } from './put-in-force.ts'
import type { RunQuery } from './versions.ts'

/** A version and when it was in force. Times are cut to milliseconds, as the API shows them. */
export interface VersionTerm {
  readonly contract: string
  readonly number: number
  readonly version: string
  readonly apiVersion: string
  readonly format: DocumentFormat
  /** Hex. */
  readonly sha256: string
  readonly unverified: boolean
  readonly from: Date
  /** Undefined: it is in force. */
  readonly until: Date | undefined
  /** Since when it was on notice, which is in force too. */
  readonly deprecatedAt: Date | undefined
  /** That the document governs. */
  readonly tables: readonly TableRef[]
}

interface TermFilter {
  readonly contract?: string | undefined
  readonly table?: TableRef | undefined
  /** In force at this time. */
  readonly asOf?: Date | undefined
  /** In force at some time from this one on, and before that one. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

interface Row {
  readonly key: string
  readonly contract: string
  readonly number: number
  readonly version: string
  readonly api_version: string
  readonly format: DocumentFormat
  readonly sha256: string
  readonly unverified: boolean
  readonly model: ContractModel
  readonly starts: Date
  readonly ends: Date | null
  readonly deprecated: Date | null
}

/**
 * A version ends where a person retires it, where the next one comes in force (the automatic retirement that goes with
 * that is recorded a moment earlier, in the same transaction), and where its document is deleted. One that ended at a
 * time that nothing says is left out. `$1` is the tenant, `$2` a contract or null.
 */
const terms = `
  with moved as (
    select contract_id, number, min(at) filter (where to_state = 'active') as activated,
      min(at) filter (where to_state = 'deprecated') as deprecated,
      min(at) filter (where to_state = 'retired' and not auto) as retired
    from svc.contract_move where tenant_id = $1 and ($2::text is null or contract_id = $2) group by contract_id, number),
  begun as (
    select v.contract_id, v.number, v.state, m.deprecated, m.retired,
      case when v.life_cycle then m.activated else v.created_at end as starts
    from svc.contract_version v left join moved m on m.contract_id = v.contract_id and m.number = v.number
    where v.tenant_id = $1 and ($2::text is null or v.contract_id = $2) and v.state in ('active', 'deprecated', 'retired')),
  followed as (
    select b.*, lead(b.starts) over (partition by b.contract_id order by b.starts, b.number) as next_starts
    from begun b where b.starts is not null),
  term as (
    select f.contract_id, f.number, f.state, date_trunc('milliseconds', f.starts) as starts,
      date_trunc('milliseconds', f.deprecated) as deprecated,
      date_trunc('milliseconds', least(f.retired, f.next_starts, case when f.state = 'retired' then (
        select min(c.at) from svc.contract_change c
        where c.tenant_id = $1 and c.action = 'delete-contract-document' and c.subject ->> 'contract' = f.contract_id
          and c.at >= f.starts) end)) as ends
    from followed f),
  found as (
    select t.contract_id || ' ' || lpad(t.number::text, 10, '0') as key, t.contract_id as contract, t.number, v.version,
      v.api_version, v.format, encode(v.sha256, 'hex') as sha256, v.unverified, v.model, t.starts, t.ends, t.deprecated
    from term t join svc.contract_version v
      on v.tenant_id = $1 and v.contract_id = t.contract_id and v.number = t.number
    where t.ends is not null or t.state <> 'retired')`

/** The versions that were in force, by contract and number. @throws Fault `bad_request` for a page limit that is too large */
export async function listTerms(
  run: RunQuery,
  tenant: TenantId,
  { contract, table, asOf, from, to }: TermFilter,
  page: PageRequest,
): Promise<Page<VersionTerm>> {
  const limit = pageLimit(page)
  const namespace = table && storableJson(table.namespace)
  const name = table && storableText(table.name)
  const conditions: readonly Condition[] = [
    ['(starts <= ?::timestamptz and (ends is null or ends > ?::timestamptz))', asOf, asOf],
    ['(ends is null or ends > ?::timestamptz)', from],
    ['starts < ?::timestamptz', to],
    [
      `exists (select from jsonb_array_elements(model -> 'schemas') s
        where s #> '{table,namespace}' = ?::text::jsonb and s #>> '{table,name}' = ?)`,
      ...[namespace, name],
    ],
    ['key collate "C" > ?', page.after === undefined ? undefined : storableText(page.after)],
  ]
  const only = contract === undefined ? null : storableText(contract)
  const { text, params } = given([tenant, only, limit + 1], ...conditions)
  const rows = await run<Row>(
    `${terms} select * from found where true${text} order by key collate "C" limit $3::int`,
    params,
  )
  const found = toPage(rows, limit, ({ key }) => key)
  return { ...found, items: found.items.map(termOf) }
}

/** The version of a contract that was in force at a time; undefined where none was. */
export async function termAt(
  run: RunQuery,
  tenant: TenantId,
  contract: string,
  asOf: Date,
): Promise<VersionTerm | undefined> {
  return (await listTerms(run, tenant, { contract, asOf }, { limit: 1 })).items[0]
}

/** Whether a time is still to come, by the clock that moves are recorded with. */
export async function isToCome(run: RunQuery, time: Date): Promise<boolean> {
  const [row] = await run<{ later: boolean }>(
    `select $1::timestamptz > date_trunc('milliseconds', clock_timestamp()) as later`,
    [time],
  )
  return row?.later !== false
}

function termOf(row: Row): VersionTerm {
  const { contract, number, version, api_version: apiVersion, format, sha256, unverified } = row
  return {
    ...{ contract, number, version, apiVersion, format, sha256, unverified },
    ...{ from: row.starts, until: row.ends ?? undefined, deprecatedAt: row.deprecated ?? undefined },
    tables: governing(row.model).map(({ table }) => ({ namespace: table.namespace, name: table.name })),
  }
}
