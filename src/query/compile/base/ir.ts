/**
 * Defines a resolved statement: every name is bound and every expression is typed. It holds no text of the statement
 * except literal values. Emitters write SQL from it alone.
 */

import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import type { TextScale } from '../../../core/quotient-scale.ts'
import type { NumericSize, SqlType } from '../../../core/sql-type.ts'
import { tableKey } from '../../../core/table-ref.ts'
import type { AggregateDef, FunctionDef } from './function-definition.ts'
import { placeAt } from './nested-fields.ts'

/** How engines store a numeric: precision and scale, or a double. */
export type DecimalShape = NumericSize | 'double'

/** A type, with precision and scale of a numeric where known. */
export interface Typed {
  readonly type: SqlType
  readonly size?: NumericSize | undefined
}

export type Expr =
  | ColumnExpr
  | LiteralExpr
  | ParameterExpr
  | (Typed & { readonly kind: 'cast'; readonly arg: Expr; readonly length?: number | undefined })
  | CallExpr
  | AggregateExpr
  | WindowExpr
  | (Typed & { readonly kind: 'logic'; readonly op: 'AND' | 'OR' | 'NOT'; readonly args: readonly Expr[] })
  | (Typed & { readonly kind: 'is'; readonly test: string; readonly arg: Expr })
  | CaseExpr
  | (Typed & { readonly kind: 'array'; readonly elements: readonly Expr[] })
  | (Typed & { readonly kind: 'in'; readonly arg: Expr; readonly list: readonly Expr[] })
  | SubqueryExpr
  | (Typed & { readonly kind: 'grouping'; readonly args: readonly Expr[] })

export interface ColumnExpr extends Typed {
  readonly kind: 'column'
  /**
   * The relation's alias in emitted SQL; `index` is the column's place in it, from 0, a {@link rawIndex}, or that of a
   * field inside a column (nested-fields.ts).
   */
  readonly relation: string
  readonly index: number
  /** How engines store a numeric of a query, where known. */
  readonly shape?: DecimalShape | undefined
  readonly textScale?: TextScale | undefined
  /** Set where its fields can be read: the type of a struct, or of a list of structs. */
  readonly nested?: IcebergType | undefined
  /** How many query levels further out the relation is. */
  readonly levelsUp: number
}

export interface LiteralExpr extends Typed {
  readonly kind: 'literal'
  /** In PostgreSQL's text form; null is NULL. */
  readonly value: string | null
  /**
   * Set where a session's time zone other than UTC changes the value: `local` for an instant that was written without an
   * offset, `instant` for a timestamp that was made from an instant.
   */
  readonly moment?: 'local' | 'instant' | undefined
}

/** A value of a parameter in PostgreSQL's text form, with the parameter's number. */
export type ParameterValue = readonly [number: number, value: string | null]

/**
 * The only node that changes: the first place that needs a type decides the parameter's type, and a place that needs
 * a literal demands its value.
 */
export interface ParameterExpr {
  readonly kind: 'parameter'
  /** From 1, as in `$1`. */
  readonly number: number
  type: SqlType
  /** Whether it stands where engines need a literal. */
  needsValue: boolean
  /** Its value, where the statement is compiled for one. */
  readonly value?: string | null | undefined
  readonly size?: undefined
}

export interface CallExpr extends Typed {
  readonly kind: 'call'
  readonly def: FunctionDef
  readonly args: readonly Expr[]
}

export interface AggregateExpr extends Typed {
  readonly kind: 'aggregate'
  readonly def: AggregateDef
  readonly args: readonly Expr[]
  readonly distinct: boolean
  readonly orderBy: readonly SortKey[]
  readonly filter?: Expr | undefined
}

export interface WindowExpr extends Typed {
  readonly kind: 'window'
  /** A window function's call, or an aggregate. */
  readonly call: CallExpr | AggregateExpr
  readonly partitionBy: readonly Expr[]
  readonly orderBy: readonly SortKey[]
  readonly frame?: WindowFrame | undefined
}

export interface WindowFrame {
  readonly mode: 'ROWS' | 'RANGE' | 'GROUPS'
  readonly start: FrameBound
  readonly end: FrameBound
}

export interface FrameBound {
  readonly bound: 'UNBOUNDED PRECEDING' | 'PRECEDING' | 'CURRENT ROW' | 'FOLLOWING' | 'UNBOUNDED FOLLOWING'
  readonly offset?: Expr | undefined
}

export interface CaseExpr extends Typed {
  readonly kind: 'case'
  readonly whens: readonly { readonly when: Expr; readonly result: Expr }[]
  readonly otherwise?: Expr | undefined
}

interface SubqueryExpr extends Typed {
  readonly kind: 'subquery'
  /** `rows` is IN of a row whose NULL and FALSE must differ; engines do not distinguish them. */
  readonly form: 'scalar' | 'exists' | 'in' | 'rows' | 'array' | 'compare'
  /** How `compare` compares, as in `> ALL`; FALSE, NULL and TRUE are those of PostgreSQL. */
  readonly compares?: `${'=' | '<>' | '<' | '<=' | '>' | '>='} ${'ANY' | 'ALL'}` | undefined
  /** Left side of IN; several make a row. */
  readonly args: readonly Expr[]
  readonly query: Query
}

export interface SortKey {
  readonly expr: Expr
  /** The place, from 1, of the same expression in the select list. Set operations sort by nothing else. */
  readonly ordinal?: number | undefined
  readonly descending: boolean
  readonly nullsFirst: boolean
}

export interface OutputColumn extends Typed {
  readonly name: string
  /** How engines store a numeric, where known. */
  readonly shape?: DecimalShape | undefined
  readonly textScale?: TextScale | undefined
  /** As of a {@link ColumnExpr}. */
  readonly nested?: IcebergType | undefined
}

export interface Query {
  readonly ctes: readonly { readonly id: string; readonly query: Query }[]
  readonly body: QueryBody
  readonly columns: readonly OutputColumn[]
  readonly orderBy: readonly SortKey[]
  readonly limit?: Expr | undefined
  readonly offset?: Expr | undefined
}

export type QueryBody = Select | SetOperation | Values

export interface Select {
  readonly kind: 'select'
  readonly distinct: boolean
  readonly distinctOn?: readonly Expr[] | undefined
  readonly targets: readonly Expr[]
  readonly from: readonly FromItem[]
  readonly where?: Expr | undefined
  /** Empty without GROUP BY. */
  readonly groupBy: readonly GroupElement[]
  readonly groupDistinct: boolean
  readonly having?: Expr | undefined
}

export type GroupElement =
  | { readonly kind: 'expr'; readonly expr: Expr }
  | { readonly kind: 'empty' }
  | { readonly kind: 'rollup' | 'cube' | 'sets' | 'row'; readonly items: readonly GroupElement[] }

export interface SetOperation {
  readonly kind: 'set'
  readonly op: 'UNION' | 'INTERSECT' | 'EXCEPT'
  readonly all: boolean
  readonly left: Query
  readonly right: Query
  /** The id of the CTE that this is, where the right side reads it: levels follow until one has no rows. */
  readonly recursive?: string | undefined
}

export interface Values {
  readonly kind: 'values'
  readonly rows: readonly (readonly Expr[])[]
}

export type FromItem = Relation | JoinItem
/** What columns are read from. */
export type Relation = TableItem | CteItem | SubqueryItem | FunctionItem

/** One appearance of a governed table: the place where protection is written. */
export interface TableItem {
  readonly kind: 'table'
  readonly id: string
  readonly table: GovernedTable
  /** Indexes of the columns that the statement refers to. */
  readonly used: ReadonlySet<number>
}

interface CteItem {
  readonly kind: 'cte'
  readonly id: string
  readonly cte: string
}

interface SubqueryItem {
  readonly kind: 'subquery'
  readonly id: string
  readonly lateral: boolean
  readonly query: Query
}

export interface FunctionItem {
  readonly kind: 'function'
  readonly id: string
  readonly name: 'generate_series' | 'unnest'
  /** Of `unnest`: one array for each column. Shorter ones are filled up with NULL. */
  readonly args: readonly Expr[]
  /** Types of its columns. */
  readonly outputs: readonly (Typed & Pick<ColumnExpr, 'nested'>)[]
  /** Whether a further column numbers the rows, from 1. */
  readonly ordinality: boolean
}

/** A function's rows: a series, or the elements of arrays side by side. */
export interface SetCall extends Pick<FunctionItem, 'name' | 'args' | 'outputs'> {
  /** The name that the function gives its column, where it is not the function's own. */
  readonly columnName?: string | undefined
  /** The names of its columns, where it has several of its own. */
  readonly columnNames?: readonly string[] | undefined
}

export interface JoinItem {
  readonly kind: 'join'
  readonly type: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS'
  readonly left: FromItem
  readonly right: FromItem
  readonly on?: Expr | undefined
}

/** The relations of an item of FROM, those below its joins in their order. */
export function relationsOf(item: FromItem): readonly Relation[] {
  return item.kind === 'join' ? [...relationsOf(item.left), ...relationsOf(item.right)] : [item]
}

/**
 * The place of a column of a governed table that an attested metric reads without its masks: beyond all columns, so that
 * it is another column than the masked one.
 */
export function rawIndex({ columns }: GovernedTable, index: number): number {
  return columns.length + index
}

/** The column of a place, raw or not, or the field inside a column. */
export function columnAt(table: GovernedTable, index: number): GovernedColumn | undefined {
  const { columns } = table
  if (index >= 2 * columns.length) return placeAt(table, index)?.shown
  return columns[index < columns.length ? index : index - columns.length]
}

/** A key of an expression: in one scope, equal keys mean equal expressions. */
export function exprKey(expr: Expr): string {
  const text = JSON.stringify(expr, (key, value: unknown) => {
    if (key === 'def') return (value as FunctionDef).id
    if (key === 'table') return tableKey((value as GovernedTable).ref)
    // A parameter's type may still change.
    if (isParameter(value)) return `$${value.number}`
    return value instanceof Set ? undefined : value
  })
  return text.includes('"query":') ? withoutAliases(text) : text
}

/** Replaces the aliases that subqueries define by their order, because equal subqueries have different aliases. */
function withoutAliases(text: string): string {
  const places = new Map<string, string>()
  for (const [, id = ''] of text.matchAll(/"id":"(\w+)"/g))
    if (!places.has(id)) places.set(id, `#${places.size}`)
  return text.replace(/"(id|cte|relation)":"(\w+)"/g, (whole, member: string, id: string) => {
    const place = places.get(id)
    return place === undefined ? whole : `"${member}":"${place}"`
  })
}

function isParameter(value: unknown): value is ParameterExpr {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'parameter'
}

/** The expressions directly below one; subqueries are not entered. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'column':
    case 'literal':
    case 'parameter':
      return []
    case 'cast':
    case 'is':
      return [expr.arg]
    case 'call':
    case 'logic':
    case 'grouping':
      return expr.args
    case 'aggregate':
      return [
        ...expr.args,
        ...expr.orderBy.map(({ expr: key }) => key),
        ...(expr.filter ? [expr.filter] : []),
      ]
    case 'window':
      return [
        ...childrenOf(expr.call),
        ...expr.partitionBy,
        ...expr.orderBy.map(({ expr: key }) => key),
        ...[expr.frame?.start.offset, expr.frame?.end.offset].filter((offset) => offset !== undefined),
      ]
    case 'case':
      return [
        ...expr.whens.flatMap(({ when, result }) => [when, result]),
        ...(expr.otherwise ? [expr.otherwise] : []),
      ]
    case 'array':
      return expr.elements
    case 'in':
      return [expr.arg, ...expr.list]
    case 'subquery':
      return expr.args
  }
}
