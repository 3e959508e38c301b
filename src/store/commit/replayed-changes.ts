/** Which changes of the audit log a replay looks at, as a condition of SQL. */

import type { PolicyScope } from '../../core/policy.ts'
import type { ReplayDraft } from '../../core/policy-replay.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { nodeId, storableText } from '../database/names.ts'
import type { Param } from '../database/session.ts'

/** Which changes a replay looks at, and by what. */
export interface ReplayRequest {
  /** Absent: the policies of then, to see whether they come to the same again. */
  readonly draft?: ReplayDraft | undefined
  /** Limits it to one table. */
  readonly table?: TableRef | undefined
  /** Decided at this time or later, and before that one; RFC 3339. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The newest so many. */
  readonly commits: number
}

/** The condition of a scope on rows of the audit log, whose parameters it adds. */
function scopeCondition(scope: PolicyScope | undefined, params: Param[]): string {
  if (scope === undefined) return 'true'
  if ('tag' in scope) return `table_id in (${taggedTables(params.push(nodeId(scope.tag)))})`
  if (scope.name !== undefined) return `table_id = $${params.push(nodeId(tableKey(scope)))}`
  return scope.namespace
    .map((level, index) => `namespace ->> ${index} = $${params.push(storableText(level))}`)
    .concat('true')
    .join(' and ')
}

/** The condition of the changes that a replay looks at, whose parameters it adds. */
export function chosenBy({ draft, table, from, to }: ReplayRequest, params: Param[]): string {
  return [
    scopeCondition(draft?.scope, params),
    scopeCondition(table, params),
    ...(from === undefined ? [] : [`created_at >= $${params.push(from)}::text::timestamptz`]),
    ...(to === undefined ? [] : [`created_at < $${params.push(to)}::text::timestamptz`]),
  ].join(' and ')
}

/** The ids of the tables that carry a tag now, themselves or by a column, also by one that was dropped. */
function taggedTables(place: number): string {
  const text = (alias: string, member: string) => `${alias}.properties::text::jsonb ->> '${member}'`
  return `select coalesce(${text('t', 'id')}, ${text('c', 'table_id')}) from "Tag" g
      join "TAGGED" e on e.end_id = g.id
      left join "Table" t on t.id = e.start_id left join "Column" c on c.id = e.start_id
    where agtype_access_operator(variadic array[g.properties, '"id"'::agtype]) = to_jsonb($${place}::text)::text::agtype`
}
