/**
 * Reads what a tenant takes along when it ends: contracts, policies, audit and usage, as lines of JSON, page by page. Each
 * part names its columns, so that a new column, such as a secret, is not in it by itself. Bodies of commits are not.
 */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { ExportPart } from '../../core/tenant-export.ts'
import { isUuid, type Page, type PageRequest, toPage } from '../database/page.ts'
import type { Store } from '../store.ts'

interface Part {
  readonly table: string
  readonly columns: string
  /** What orders it, and selects the next page. */
  readonly key: readonly (readonly [column: string, type: 'bigint' | 'text' | 'uuid'])[]
  readonly pageRows: number
}

const bySequence = (table: string, sequence: string, columns: string): Part => ({
  ...{ table, columns: `${sequence}, ${columns}`, key: [[sequence, 'bigint']], pageRows: 500 },
})

const parts: Readonly<Record<ExportPart, Part>> = {
  // A document has up to a megabyte.
  contracts: {
    table: 'contract_version',
    columns: `contract_id, number, version, api_version, format, state, created_at, created_by, base_number, managed_by,
      encode(sha256, 'hex') as sha256, convert_from(body, 'UTF8') as document`,
    key: [
      ['contract_id', 'text'],
      ['number', 'bigint'],
    ],
    pageRows: 8,
  },
  'contract-moves': bySequence(
    'contract_move',
    'move_seq',
    `at, contract_id, number, encode(sha256, 'hex') as sha256, move, from_state, to_state, auto, reason, actor`,
  ),
  'contract-sign-offs': bySequence(
    'contract_sign_off',
    'sign_off_seq',
    `at, contract_id, number, encode(sha256, 'hex') as sha256, level, comment, actor`,
  ),
  policies: bySequence(
    'policy_history',
    'history_seq',
    'policy_id, at, table_id, namespace_id, tag_id, scope, unbinds, policy, actor',
  ),
  tags: bySequence(
    'tag_change',
    'tag_seq',
    'at, action, tag, namespace, table_name, column_name, source, evidence, actor',
  ),
  decisions: bySequence(
    'audit_log',
    'audit_seq',
    `commit_id, received_at, created_at, decision, reason, action, namespace, table_name, branch, committer, principal,
     principal_source, session_id, session_name, client, application_id, request_id, body_sha256,
     base_metadata_location, previous_metadata_location, metadata_location, base_held, policies, outcomes,
     encode(policy_set, 'hex') as policy_set`,
  ),
  unjudged: bySequence(
    'unjudged_change',
    'place',
    `commit_id, created_at, action, namespace, table_name, principal, principal_source, policy_id, policy_name, error,
     explanation, request_id`,
  ),
  changes: bySequence('contract_change', 'change_seq', 'at, action, subject, value, actor'),
  administration: bySequence(
    'administration_log',
    'administration_seq',
    'at, action, subject, value, actor, request_id',
  ),
  holds: {
    table: 'legal_hold',
    columns:
      'hold_id, namespace, table_name, reason, set_at, set_by, released_at, released_by, release_reason',
    key: [['hold_id', 'uuid']],
    pageRows: 500,
  },
  usage: bySequence(
    'query_usage',
    'usage_seq',
    `query_id, started_at, recorded_at, principal_sub, principal_source, session_id, surface, catalog, engine, client,
     tool, contracts, reads, policies, protection, given, given_times, last_at, rows_out, bytes_out, bytes_scanned,
     queue_ms, plan_ms, run_ms, outcome, sqlstate, fingerprint, purpose`,
  ),
}

/**
 * A page of a part of a tenant's export, each item a line of JSON.
 * @throws Fault `bad_request` for a bad page token
 */
export async function exportPage(
  store: Store,
  tenant: TenantId,
  name: ExportPart,
  { after }: PageRequest,
): Promise<Page<string>> {
  const { table, columns, key, pageRows } = parts[name]
  const position = after === undefined ? undefined : positionOf(after, key)
  const places = key.map(([, type], index) => `$${index + 3}::text::${type}`).join(', ')
  const names = key.map(([column]) => `t.${column}`).join(', ')
  const rows = await store.tenantQuery<{ readonly line: string; readonly position: string }>(
    tenant,
    `select row_to_json(r)::text as line, r_position as position
     from (select * from svc.${table} t where t.tenant_id = $1
         ${position === undefined ? '' : `and (${names}) > (${places})`} order by ${names} limit $2::int) t,
       lateral (select jsonb_build_array(${key.map(([column]) => `t.${column}::text`).join(', ')})::text as r_position) p,
       lateral (select ${columns}) r
     order by ${names}`,
    [tenant, pageRows + 1, ...(position ?? [])],
  )
  const page = toPage(rows, pageRows, (row) => row.position)
  return { ...page, items: page.items.map(({ line }) => line) }
}

function positionOf(token: string, key: Part['key']): readonly string[] {
  const invalid = () => new Fault('bad_request', 'The page token is not valid.')
  let values: unknown
  try {
    values = JSON.parse(token)
  } catch {
    throw invalid()
  }
  if (!Array.isArray(values) || values.length !== key.length) throw invalid()
  return key.map(([, type], index) => {
    const value: unknown = values[index]
    const isValid =
      typeof value === 'string' &&
      (type === 'bigint'
        ? /^\d{1,18}$/.test(value)
        : type === 'uuid'
          ? isUuid(value)
          : value.length <= 1024 && !value.includes('\0') && value.isWellFormed())
    if (!isValid) throw invalid()
    return value
  })
}
