/**
 * Decides whether a text is about the catalog: only SELECTs of listed nodes, relations of pg_catalog or
 * information_schema, and listed functions. A text that is only partly about the catalog is refused as `mixed`. What
 * tells of the session alone, as version() does, may stand in either.
 */

import { parseStatements } from '../../../query/compile/parse/parse.ts'
import { sessionFunctions } from '../../../query/compile/resolve/session-values.ts'
import { catalogFunctions, catalogRelations, plainFunctions } from './allowed-names.ts'

type Coverage = 'catalog' | 'data' | 'mixed'

const kinds: ReadonlySet<string> = new Set([
  ...[
    'SelectStmt',
    'CommonTableExpr',
    'RangeVar',
    'RangeSubselect',
    'RangeFunction',
    'JoinExpr',
    'ResTarget',
  ],
  ...[
    'SortBy',
    'GroupingSet',
    'GroupingFunc',
    'WindowDef',
    'ColumnRef',
    'A_Star',
    'A_Const',
    'ParamRef',
    'A_Expr',
  ],
  ...['BoolExpr', 'NullTest', 'BooleanTest', 'CaseExpr', 'CaseWhen', 'CoalesceExpr', 'MinMaxExpr'],
  ...['SQLValueFunction', 'TypeCast', 'TypeName', 'FuncCall', 'SubLink', 'A_ArrayExpr', 'A_Indirection'],
  ...['A_Indices', 'RowExpr', 'List', 'String', 'Integer', 'Float', 'Boolean', 'BitString', 'CollateClause'],
  ...['NamedArgExpr', 'ColumnDef'],
])

/** SELECT INTO writes, FOR UPDATE locks. */
const refusedFields: ReadonlySet<string> = new Set(['intoClause', 'lockingClause'])

const sessionValues: ReadonlySet<string> = new Set([
  ...['SVFOP_CURRENT_USER', 'SVFOP_CURRENT_ROLE', 'SVFOP_USER', 'SVFOP_SESSION_USER'],
  ...['SVFOP_CURRENT_CATALOG', 'SVFOP_CURRENT_SCHEMA'],
])

const catalogTypes: ReadonlySet<string> = new Set([
  ...['regclass', 'regtype', 'regproc', 'regprocedure', 'regnamespace', 'regrole', 'regoper', 'regoperator'],
  ...['regcollation', 'regconfig', 'regdictionary'],
])

interface Sighting {
  /** The statement names something of the catalog. */
  catalog: boolean
  /** The statement asks for something of its session. */
  session: boolean
  /** The statement names a relation outside of the catalog. */
  data: boolean
  /** The statement uses something that is not listed. */
  unlisted: boolean
}

export type Fields = Readonly<Record<string, unknown>>

/**
 * Decides what a text of one or more statements is about.
 * @returns `catalog` where the catalog can answer all of the text. `mixed` where only part of it is about the
 *   catalog, or it names something there that is not served. `data` for all else, also text that does not parse.
 */
export function coverageOf(sql: string): Coverage {
  let statements: ReturnType<typeof parseStatements>
  try {
    statements = parseStatements(sql)
  } catch {
    return 'data'
  }
  const coverages = new Set(statements.map(({ stmt }) => statementCoverage(stmt as Fields | undefined)))
  const [coverage, ...others] = coverages
  return others.length > 0 ? 'mixed' : (coverage ?? 'data')
}

/** Whether a text is one SELECT, which PostgreSQL can analyse without any effect. */
export function isOneSelect(sql: string): boolean {
  try {
    const [statement, ...others] = parseStatements(sql)
    return others.length === 0 && statement?.stmt !== undefined && 'SelectStmt' in statement.stmt
  } catch {
    return false
  }
}

function statementCoverage(statement: Fields | undefined): Coverage {
  const select = statement?.SelectStmt
  if (select === undefined) return 'data'
  const seen: Sighting = { catalog: false, session: false, data: false, unlisted: false }
  seeSelect(select as Fields, new Set(), seen)
  if (!seen.catalog) return seen.session && !seen.data && !seen.unlisted ? 'catalog' : 'data'
  return seen.data || seen.unlisted ? 'mixed' : 'catalog'
}

/** @param outer names of the WITH queries that are in scope */
function seeSelect(select: Fields, outer: ReadonlySet<string>, seen: Sighting): void {
  const { withClause, ...rest } = select as { withClause?: Fields } & Fields
  const scope = new Set(outer)
  const queries = (withClause?.ctes ?? []) as readonly { readonly CommonTableExpr?: Fields }[]
  if (withClause?.recursive === true)
    for (const { CommonTableExpr: query } of queries) scope.add(String(query?.ctename))
  for (const query of queries) {
    seeFields(query, scope, seen)
    scope.add(String(query.CommonTableExpr?.ctename))
  }
  seeFields(rest, scope, seen)
}

/** Walks nodes and fields. A node's key is its kind, which starts with a capital; a field's key does not. */
function seeFields(fields: Fields, scope: ReadonlySet<string>, seen: Sighting): void {
  for (const [key, value] of Object.entries(fields)) {
    const isKind = /^[A-Z]/.test(key)
    if (refusedFields.has(key) || (isKind && !kinds.has(key))) seen.unlisted = true
    // The two sides of a UNION are selects without a wrapper; those of a join have one.
    const isSide = (key === 'larg' || key === 'rarg') && isFields(value) && 'op' in value
    if (!isFields(value)) {
      if (Array.isArray(value)) for (const each of value) if (isFields(each)) seeFields(each, scope, seen)
      continue
    }
    if (isKind) see(key, value, scope, seen)
    if (key === 'typeName') seeType(value, seen)
    if (key === 'SelectStmt' || isSide) seeSelect(value, scope, seen)
    else seeFields(value, scope, seen)
  }
}

function see(kind: string, fields: Fields, scope: ReadonlySet<string>, seen: Sighting): void {
  if (kind === 'RangeVar') seeRelation(fields, scope, seen)
  else if (kind === 'FuncCall') seeFunction(namesOf(fields.funcname), seen)
  else if (kind === 'SQLValueFunction' && sessionValues.has(String(fields.op))) seen.session = true
}

function seeRelation(fields: Fields, scope: ReadonlySet<string>, seen: Sighting): void {
  const schema = fields.schemaname
  const name = String(fields.relname)
  if (schema === undefined && scope.has(name)) return
  if (schema === 'information_schema') seen.catalog = true
  else if (schema === 'pg_catalog' || (schema === undefined && catalogRelations.has(name))) {
    seen.catalog = true
    if (!catalogRelations.has(name)) seen.unlisted = true
  } else seen.data = true
}

function seeFunction(names: readonly string[], seen: Sighting): void {
  const name = names.at(-1) ?? ''
  const schema = names.length > 1 ? names.at(-2) : 'pg_catalog'
  const isInternal = schema === 'information_schema' && name.startsWith('_pg_')
  if ((schema !== 'pg_catalog' && !isInternal) || names.length > 2) seen.unlisted = true
  if (sessionFunctions.has(name) && schema === 'pg_catalog') seen.session = true
  else if (catalogFunctions.has(name)) seen.catalog = true
  else if (!plainFunctions.has(name)) seen.unlisted = true
}

function seeType(type: Fields, seen: Sighting): void {
  if (catalogTypes.has(namesOf(type.names).at(-1) ?? '')) seen.catalog = true
}

/** The names of a list of strings of the parser's. */
export function namesOf(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return []
  return list.map((item) => String(item?.String?.sval ?? ''))
}

/** Whether a part of a tree has fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
