/**
 * Defines the state of resolving a statement: its tables, its principal and the names in scope. The two functions
 * `expr` and `query` let the resolver's files call each other.
 */

import type { Node, RowExpr, SelectStmt, WindowDef } from 'libpg-query'
import type { GovernedTable } from '../../../core/governed-table.ts'
import type { Principal } from '../../../core/principal.ts'
import type { SqlType } from '../../../core/sql-type.ts'
import {
  type ColumnExpr,
  childrenOf,
  type Expr,
  type FunctionItem,
  type OutputColumn,
  type ParameterExpr,
  type Query,
  type SetCall,
} from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import type { LiftedColumn } from '../metrics/lifted.ts'
import { isOwnAlias, isOwnName } from '../metrics/own-names.ts'

/** What a statement may expand to beyond its text: columns in scope, repeated expressions. */
const statementExpansionMax = 400_000

/** One place at which a statement names a table. */
export interface TableAppearance {
  readonly id: string
  readonly table: GovernedTable
  /** Indexes of the columns that the statement reads there. Resolving adds to them. */
  readonly used: Set<number>
}

/** What a column's fields are read from. */
type FieldSource =
  | { readonly from: 'table'; readonly table: GovernedTable }
  | { readonly from: 'query'; readonly query: Query }
  | { readonly from: 'function'; readonly item: FunctionItem }

export interface Resolver {
  /** The database that a name may be qualified with; undefined where none may. */
  readonly database: string | undefined
  /** The first schema of the search path. */
  readonly schema: string | undefined
  /** The table of a name; without a schema the search path decides. Undefined where there is none. */
  readonly findTable: (schema: string | undefined, name: string) => GovernedTable | undefined
  readonly principal: Principal
  /** Columns that expanded metrics may read without attested masks. */
  readonly lifted: readonly LiftedColumn[]
  /** Whether metrics were written out in the statement, which call functions of the service's own. */
  readonly isExpanded: boolean
  /** Types that the client gave. Other types are inferred from the parameters' places. */
  readonly parameterTypes: readonly (SqlType | undefined)[]
  readonly parameters: Map<number, ParameterExpr>
  /** Values of parameters that must be literals, where they are known. */
  readonly parameterValues: ReadonlyMap<number, string | null>
  /** Whether this is a row filter or mask: no subqueries, parameters or aggregates, but has_role() is allowed. */
  readonly policy: boolean
  readonly tables: TableAppearance[]
  /** What relations are, by their ids, for fields of their columns. */
  readonly sources: Map<string, FieldSource>
  ids: number
  /** Rows that the statement only shows; see row-text.ts. */
  readonly shownRows: ReadonlySet<RowExpr>
  /** Columns and expressions to which the statement has expanded; see `spend`. */
  spent: number
  readonly expr: (node: Node, env: Env) => Expr
  readonly query: (select: SelectStmt, outer: Scope | undefined) => Query
}

export interface ScopeColumn {
  readonly name: string
  readonly expr: Expr
}

/**
 * The columns that stars, whole rows and natural joins mean. The relation of a metric has others, which hold what its
 * aggregates read, also unmasked: only expanded text names these.
 */
export function namedColumns(
  { isExpanded }: Pick<Resolver, 'isExpanded'>,
  columns: readonly ScopeColumn[],
): readonly ScopeColumn[] {
  return isExpanded ? columns.filter(({ name }) => !isOwnName(name)) : columns
}

export interface ScopeRelation {
  readonly alias: string
  /** Set where a table has no alias, so that its schema may qualify its name. */
  readonly schema?: string | undefined
  readonly columns: readonly ScopeColumn[]
  /** The one value of a function's row, which the relation's name means as well. */
  readonly scalar?: Expr | undefined
  /** Whether an outer join may put NULLs in the place of its row. */
  readonly mayLack?: boolean | undefined
}

interface Cte {
  readonly id: string
  readonly columns: readonly OutputColumn[]
  /** Undefined for one that reads itself. */
  readonly query?: Query
}

export interface Scope {
  readonly outer?: Scope | undefined
  relations: readonly ScopeRelation[]
  /** Columns that an unqualified name may mean; a USING column appears once. */
  columns: readonly ScopeColumn[]
  readonly ctes: Map<string, Cte>
  readonly windows: Map<string, WindowDef>
  hasAggregates: boolean
  hasWindows: boolean
  /** Functions of the select list that return rows, and the item of FROM that they become. */
  readonly sets: {
    id: string | undefined
    readonly calls: { readonly key: string; readonly call: SetCall }[]
  }
}

export interface Env {
  readonly scope: Scope
  /** Undefined where aggregates are allowed; else the clause that forbids them. */
  readonly noAggregates?: string | undefined
  readonly noWindows?: string | undefined
  /** Where functions that return rows are allowed: any, or those of the select list. */
  readonly sets?: 'any' | 'known' | undefined
}

/** A scope with an empty FROM. */
export function newScope(outer: Scope | undefined): Scope {
  return {
    outer,
    relations: [],
    columns: [],
    ctes: new Map(),
    windows: new Map(),
    hasAggregates: false,
    hasWindows: false,
    sets: { id: undefined, calls: [] },
  }
}

/** A name that is unique in the emitted statement. */
export function newId(resolver: Resolver, prefix: string): string {
  return `${prefix}${++resolver.ids}`
}

/**
 * Counts what makes a short text expensive: columns that FROM and `*` bring, the search for a name among them, and
 * expressions that are written more than once.
 *
 * @throws SqlError 54001 above the limit
 */
export function spend(resolver: Resolver, count: number): void {
  resolver.spent += count
  if (resolver.spent > statementExpansionMax)
    throw new SqlError('54001', 'The statement expands to too many columns or expressions.')
}

/** Counts an expression that is written `times` more times. */
export function spendCopies(resolver: Resolver, expr: Expr, times: number): void {
  const open = [expr]
  for (let each = open.pop(); each !== undefined && times > 0; each = open.pop()) {
    spend(resolver, times)
    for (const child of childrenOf(each)) open.push(child)
  }
}

/**
 * Checks the database of a name that is qualified with one.
 * @param written the whole name, for the message
 * @throws SqlError 0A000 for another database than the one that is read
 */
export function assertDatabase(
  resolver: Resolver,
  [database, schema, relation]: readonly string[],
  written: string,
  position?: number,
): void {
  if (database === resolver.database) return
  // A namespace of several levels, written as in Spark and Trino, looks like a name in another database.
  const hint = `Quote a namespace of several levels as one name: "${database}.${schema}"."${relation}".`
  throw new SqlError('0A000', `cross-database references are not implemented: ${written}`, position, { hint })
}

/**
 * Removes the database from the name of a column, or of a relation before a star, if it has one.
 * @param parts how many parts a name with a database has
 * @throws SqlError 42601 for more parts; as {@link assertDatabase}
 */
export function withoutDatabase(
  resolver: Resolver,
  names: readonly string[],
  parts: number,
  position?: number,
): readonly string[] {
  if (names.length < parts) return names
  if (names.length > parts)
    throw new SqlError(
      '42601',
      `improper qualified name (too many dotted names): ${names.join('.')}`,
      position,
    )
  assertDatabase(resolver, names, names.join('.'), position)
  return names.slice(1)
}

/** The identifier in a parser node. @throws SqlError 42601 for another node */
export function identifierOf(node: Node | undefined): string {
  if (node !== undefined && 'String' in node) return node.String.sval ?? ''
  throw new SqlError('42601', 'A name is expected.')
}

/** Finds an unqualified column. @throws SqlError 42703 or 42702; 0A000 for a relation's name (its whole row) */
export function findColumn(resolver: Resolver, scope: Scope, name: string, position?: number): Expr {
  let levels = 0
  for (let each: Scope | undefined = scope; each !== undefined; each = each.outer, levels++) {
    spend(resolver, each.columns.length >> 6)
    const found = each.columns.filter((column) => column.name === name)
    if (found.length > 1) throw new SqlError('42702', `column reference "${name}" is ambiguous`, position)
    if (found[0] !== undefined) return use(resolver, found[0].expr, levels)
  }
  levels = 0
  for (let each: Scope | undefined = scope; each !== undefined; each = each.outer, levels++) {
    const named = each.relations.find(({ alias }) => alias === name)
    if (named?.scalar !== undefined) return use(resolver, named.scalar, levels)
    if (named !== undefined)
      throw new SqlError('0A000', `A whole-row reference ("${name}") is not supported.`, position)
  }
  throw new SqlError('42703', `column "${name}" does not exist`, position)
}

/** Finds a qualified column. @throws SqlError 42P01 for an unknown relation, 42703 or 42702 for its column */
export function findQualifiedColumn(
  resolver: Resolver,
  scope: Scope,
  [schema, relation]: readonly [string | undefined, string],
  name: string,
  position?: number,
): Expr {
  let levels = 0
  for (let each: Scope | undefined = scope; each !== undefined; each = each.outer, levels++) {
    const found = each.relations.filter(
      (one) => one.alias === relation && (schema === undefined || one.schema === schema),
    )
    if (found.length > 1) throw new SqlError('42712', `table reference "${relation}" is ambiguous`, position)
    const columns = found[0]?.columns.filter((column) => column.name === name)
    if (columns === undefined) continue
    if (columns.length > 1) throw new SqlError('42702', `column reference "${name}" is ambiguous`, position)
    if (columns[0] === undefined && isOwnAlias(relation))
      throw new SqlError('55000', 'A metric or dimension reads a column that the table no longer has.')
    if (columns[0] === undefined)
      throw new SqlError('42703', `column ${relation}.${name} does not exist`, position)
    return use(resolver, columns[0].expr, levels)
  }
  throw new SqlError('42P01', `missing FROM-clause entry for table "${relation}"`, position)
}

/** The expression as seen `levels` queries further in. Marks its base columns as read. */
export function use(resolver: Resolver, expr: Expr, levels: number): Expr {
  markUsed(resolver, expr)
  return levels === 0 ? expr : lift(expr, levels)
}

function markUsed(resolver: Resolver, expr: Expr): void {
  if (expr.kind === 'column') resolver.tables.find(({ id }) => id === expr.relation)?.used.add(expr.index)
  else for (const child of childrenOf(expr)) markUsed(resolver, child)
}

/** Moves a column `levels` queries in. A column merged by USING is a cast or COALESCE of plain ones. */
function lift(expr: Expr, levels: number): Expr {
  if (expr.kind === 'column') return { ...expr, levelsUp: expr.levelsUp + levels } satisfies ColumnExpr
  if (expr.kind === 'cast') return { ...expr, arg: lift(expr.arg, levels) }
  if (expr.kind === 'call') return { ...expr, args: expr.args.map((arg) => lift(arg, levels)) }
  throw new SqlError('XX000', 'The statement could not be compiled.')
}

/** Finds the CTE of an unqualified name. */
export function findCte(scope: Scope | undefined, name: string): Cte | undefined {
  for (let each = scope; each !== undefined; each = each.outer) {
    const found = each.ctes.get(name)
    if (found) return found
  }
  return undefined
}
