/** Explains a statement: loads the tables that it names, compiles it, says what protects them. */

import type { Fields } from '../auth/administration/body.ts'
import { Fault } from '../base/fault.ts'
import { isJsonObject } from '../base/json.ts'
import { saltBytesMin } from '../core/mask.ts'
import type { Principal } from '../core/principal.ts'
import type { DialectName } from '../core/sql-type.ts'
import type { TenantId } from '../core/tenant.ts'
import { loadGovernances } from '../store/governance.ts'
import { governedTable } from '../store/governed-table.ts'
import type { Store } from '../store/store.ts'
import { compileQuery } from './compile.ts'
import { dialects, renderSql } from './emit/render.ts'
import { namedRefs } from './named-refs.ts'
import type { QueryContext } from './query-service.ts'

export interface ExplainInput {
  readonly statement: string
  readonly dialect: DialectName
  readonly principal: Principal
  /** Whether `principal` is another than the caller. */
  readonly impersonates: boolean
  readonly parameters: readonly (string | null)[] | undefined
}

/** @throws Fault `bad_request` naming the field */
export function explainInput(fields: Fields, caller: Principal): ExplainInput {
  const dialect = Object.keys(dialects).find((name) => name === fields.text('dialect'))
  if (dialect === undefined)
    throw new Fault('bad_request', `\`dialect\` must be one of ${Object.keys(dialects).join(', ')}.`)
  const named = fields.object.get('principal')
  return {
    statement: fields.text('statement'),
    dialect: dialect as DialectName,
    principal: named === undefined ? caller : principalOf(named),
    impersonates: named !== undefined,
    parameters: parametersOf(fields.object.get('parameters')),
  }
}

function principalOf(value: unknown): Principal {
  const object = isJsonObject(value as never) ? (value as ReadonlyMap<string, unknown>) : new Map()
  const sub = object.get('sub')
  const roles = object.get('roles') ?? []
  if (typeof sub !== 'string' || sub === '' || !Array.isArray(roles) || !roles.every(isText))
    throw new Fault('bad_request', '`principal` must be an object of `sub`, a string, and `roles`, strings.')
  return { sub, roles }
}

function parametersOf(value: unknown): readonly (string | null)[] | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value) || !value.every((item) => item === null || isText(item)))
    throw new Fault('bad_request', '`parameters` must be an array of strings and nulls.')
  return value
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/**
 * What a statement becomes for a principal.
 *
 * @param withPolicies whether the caller may see the policies' text and where they are attached: a steward
 * @throws SqlError as the compiler does; Fault of the store
 */
export async function explain(
  store: Store,
  tenant: TenantId,
  { statement, dialect, principal, parameters }: ExplainInput,
  withPolicies: boolean,
) {
  const governed = await loadGovernances(store, tenant, namedRefs(statement, []))
  const tables = [...governed.values()].map((governance) => governedTable(governance, principal))
  const compiled = compileQuery({ text: statement, principal, tables, searchPath: [] })
  // A run draws its salt; here it is zeros, for nobody to find what a run's was.
  const salt = new Uint8Array(saltBytesMin)
  const sql = renderSql(compiled.emit(dialect), dialect, { salt, ...(parameters && { parameters }) })
  return {
    dialect,
    principal: { sub: principal.sub, roles: principal.roles },
    ...(withPolicies && { sql }),
    parameters: compiled.parameters,
    columns: compiled.columns.map(({ name, type }) => ({ name, type })),
    reads: compiled.reads.map(({ table: { ref, contract }, columns }) => ({ ...ref, contract, columns })),
    policies: compiled.policies.map(({ origin, ...policy }) => ({
      ...policy,
      ...(withPolicies && { origin }),
    })),
    fingerprint: compiled.fingerprint,
  }
}

/**
 * The same for a client of a wire, one line a row: columns, tables, policies, and the SQL for the engine.
 * The caller has made sure that its principal is a steward.
 * @throws SqlError as the compiler does; Fault of the store
 */
export async function explainLines(
  store: Store,
  { tenant, principal }: QueryContext,
  statement: string,
): Promise<readonly string[]> {
  const input = {
    statement,
    dialect: 'duckdb',
    principal,
    impersonates: false,
    parameters: undefined,
  } as const
  const { columns, reads, policies, sql } = await explain(store, tenant, input, true)
  return [
    `Columns: ${columns.map(({ name, type }) => `${name} ${type}`).join(', ')}`,
    ...reads.map(
      ({ namespace, name, columns: read }) => `Reads ${[...namespace, name].join('.')}: ${read.join(', ')}`,
    ),
    ...policies.map((policy) => `Policy: ${JSON.stringify(policy)}`),
    ...`${sql}`.split('\n'),
  ]
}
