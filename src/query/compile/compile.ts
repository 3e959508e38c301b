/**
 * Compiles statement text, governed tables and a principal to protected SQL. It is pure: it reads and writes nothing.
 * Every exception refuses the statement, and a construct without a rule is refused.
 */

import type { LiftedBy } from '../../core/access-grant.ts'
import type { ColumnRange } from '../../core/column-range.ts'
import { type GovernedTable, isMasked } from '../../core/governed-table.ts'
import type { QueryBudget } from '../../core/metric.ts'
import { foldName } from '../../core/name-case.ts'
import { oversees, type Principal } from '../../core/principal.ts'
import type { TextScale } from '../../core/quotient-scale.ts'
import type { ReadLineage } from '../../core/read-lineage.ts'
import { eachOnce, isReadable } from '../../core/seen-table.ts'
import type { DialectName, NumericSize, SqlType } from '../../core/sql-type.ts'
import { timeZone } from '../../core/time-zone.ts'
import { type ParameterExpr, type ParameterValue, type Query, rawIndex } from './base/ir.ts'
import { placeAt } from './base/nested-fields.ts'
import { absentRelation, SqlError, toSqlError, UnreadableTable } from './base/sql-error.ts'
import { emitStatement } from './emit/query.ts'
import { dialects, type SqlPart, splitSlots } from './emit/render.ts'
import { assertRatesShow } from './metrics/currency.ts'
import type { Expansion } from './metrics/expand.ts'
import { isLifted, liftedFor } from './metrics/lifted.ts'
import { assertMomentsShow } from './metrics/semi-additive.ts'
import { lineageOf } from './output/lineage-of.ts'
import { type OutputOrigin, originsOf } from './output/output-origins.ts'
import { type RevealedOutputs, revealedOutputs } from './output/revealed-outputs.ts'
import { checkValueSizes, exceedAssumedSize } from './output/value-size.ts'
import { checkTree } from './parse/allow-list.ts'
import { parseSelect } from './parse/parse.ts'
import { barrierOf } from './protect/barrier.ts'
import { nestedReads } from './protect/nested-reads.ts'
import {
  type AppliedProtection,
  appliedProtections,
  appliedReveals,
  isMasked as isMaskedHere,
  protectTables,
} from './protect/protect.ts'
import { columnRanges } from './protect/ranges.ts'
import type { Resolver } from './resolve/context.ts'
import { resolveExpression } from './resolve/expression.ts'
import { placed } from './resolve/place.ts'
import { shownRows } from './resolve/row-text.ts'
import { resolveQuery } from './resolve/select.ts'
import { inSessionZone } from './resolve/session-zone.ts'
import { demandShownNumerics } from './resolve/shown-parameters.ts'
import { assertWideEnds } from './resolve/wide.ts'

export interface CompileInput {
  readonly text: string
  readonly principal: Principal
  /** The tables that statements of this tenant and principal can name. */
  readonly tables: readonly GovernedTable[]
  /** Schemas that an unqualified name is looked for in, in order. */
  readonly searchPath: readonly string[]
  /** The name of the catalog, with which a name may be qualified. Undefined: no name may be. */
  readonly database?: string | undefined
  /** The session's time zone by its name; undefined is UTC. Filters and masks are in UTC whatever it is. */
  readonly timeZone?: string | undefined
  /** Types of parameters that the client gave, `$1` first. Others are inferred. */
  readonly parameterTypes?: readonly (SqlType | undefined)[]
  /** Values of parameters. Only those that stand where engines need a literal are compiled in. */
  readonly parameterValues?: readonly ParameterValue[]
  /** The statement with its metrics written out, where it names any; takes the place of `text`. */
  readonly expansion?: Expansion | undefined
}

export interface ResultColumn {
  readonly name: string
  readonly type: SqlType
  /** Precision and scale of a numeric, where known. */
  readonly size?: NumericSize | undefined
  /** Digits after the point of a numeric that engines compute as a double, where PostgreSQL's rule tells them. */
  readonly textScale?: TextScale | undefined
}

/** What a statement reads of one table: its lineage, for the usage record. */
export interface TableRead {
  readonly table: GovernedTable
  readonly columns: readonly string[]
}

export interface CompiledQuery {
  readonly columns: readonly ResultColumn[]
  /** Types of `$1` … in order; text for one that the statement does not use. */
  readonly parameters: readonly SqlType[]
  /** Numbers of the parameters without whose values it cannot be emitted: it must be compiled with them. */
  readonly needsValues: readonly number[]
  readonly reads: readonly TableRead[]
  /** Which columns flow into which of its result; found when it is first asked for. */
  readonly lineage: () => ReadLineage
  /** The column of a table that each column of its result is; found when it is first asked for. */
  readonly origins: () => readonly (OutputOrigin | undefined)[]
  readonly policies: readonly AppliedProtection[]
  /** Which columns of the result are opened after the engine; undefined where none is. */
  readonly reveals: RevealedOutputs | undefined
  /** The values that the statement can use of each table, for skipping files; see ranges.ts. */
  readonly ranges: ReadonlyMap<GovernedTable, readonly ColumnRange[]>
  /** What the statement and its policies read of nested columns of each table, by field id; see nested-reads.ts. */
  readonly nested: ReadonlyMap<GovernedTable, ReadonlySet<number>>
  /** @throws SqlError 54001 where parameters make a text or an array too large */
  readonly checkParameters: (parameters: readonly (string | null)[]) => void
  /**
   * The SQL for an engine, to be rendered for a run (emit/render.ts).
   *
   * @param deletes tables whose files hold deleted rows that the engine's SQL must drop
   * @throws SqlError 0A000 where the engine cannot do it with PostgreSQL's meaning; 42P02 where it needs the value
   *   of a parameter
   */
  readonly emit: (dialect: DialectName, deletes?: ReadonlySet<GovernedTable>) => readonly SqlPart[]
  /** The grants by which the principal sees more of what the statement reads; each once. */
  readonly lifted: readonly LiftedBy[]
  /** When the first of these grants ends, or the first attestation by which it reads columns without masks. */
  readonly liftedUntilMs?: number
  /** The bounds of attestations by which it reads columns without masks that hide them from the principal. */
  readonly budgets: readonly QueryBudget[]
  /** Whether a row filter or mask applies to any of its tables. */
  readonly hides: boolean
  /** The same statement over copies of the visible rows of each table. @throws SqlError as emit does */
  readonly emitCopied: (dialect: DialectName, deletes: ReadonlySet<GovernedTable>) => CopiedSql
}

/** A statement in two steps: the copies are made first, and the statement reads only them. */
interface CopiedSql {
  /** What each copy holds, by its id. */
  readonly copies: ReadonlyMap<string, readonly SqlPart[]>
  readonly statement: readonly SqlPart[]
}

/**
 * Compiles one statement.
 *
 * @throws SqlError and nothing else: 42601, 42P01, 42703, 42883, 42501, 0A000 and others of sql-error.ts
 */
export function compileQuery(input: CompileInput): CompiledQuery {
  try {
    return compile(input)
  } catch (thrown) {
    throw toSqlError(thrown)
  }
}

function compile(input: CompileInput): CompiledQuery {
  const { text, principal } = input
  if (principal.sub === '' || principal.sub.includes('\0') || !principal.sub.isWellFormed())
    throw new SqlError('42501', 'permission denied: there is no principal')
  const tree = input.expansion?.tree ?? parseSelect(text)
  if (input.expansion !== undefined) {
    checkTree(tree)
    assertMomentsShow(input.expansion.moments, input.tables)
    assertRatesShow(input.expansion.rates, input.tables)
  }
  const resolver = newResolver(input, shownRows(tree))
  const query = inZone(resolveQuery(resolver, tree, undefined), input)
  assertWideEnds(query)
  demandShownNumerics(query)
  const types = new Map(
    [...resolver.parameters].map(([number, parameter]) => [number, parameterType(parameter)]),
  )
  // A type that only the rest of the statement told may be one whose values are written into the statement.
  const isLearnt = ({ number, needsValue, value }: ParameterExpr) =>
    needsValue && value !== undefined && input.parameterTypes?.[number - 1] === undefined
  if ([...resolver.parameters.values()].some(isLearnt))
    return compile({ ...input, parameterTypes: parameterTypesOf(types) })
  checkValueSizes(query)
  const protections = protectTables(resolver.tables, principal)
  const outputs = revealedOutputs(query)
  const reveals = outputs.some((output) => output !== undefined) ? outputs : undefined
  const lifted = liftedOf(resolver)
  const liftedUntilMs = Math.min(
    input.expansion?.liftedUntilMs ?? Number.POSITIVE_INFINITY,
    ...lifted.map(({ untilMs }) => untilMs),
  )
  const tablesById = new Map(resolver.tables.map(({ id, table }) => [id, table]))
  const written = (
    dialect: DialectName,
    deletes: ReadonlySet<GovernedTable> | undefined,
    copies?: Map<string, string>,
  ) => {
    assertValues(resolver)
    const hasDeletes = (id: string) => deletes?.has(tablesById.get(id) as GovernedTable) === true
    const barrier = barrierOf(dialect, query, protections, hasDeletes)
    return emitStatement(dialects[dialect], query, protections, barrier, copies)
  }
  let lineage: ReadLineage | undefined
  let origins: readonly (OutputOrigin | undefined)[] | undefined
  const split = (sql: string) => splitSlots(sql, tablesById, types)
  return {
    columns: query.columns.map(({ name, type, size, textScale }) => ({ name, type, size, textScale })),
    parameters: parameterTypesOf(types),
    needsValues: [...resolver.parameters.values()]
      .filter(({ needsValue }) => needsValue)
      .map(({ number }) => number),
    reads: readsOf(resolver),
    lineage: () => {
      lineage ??= lineageOf(query)
      return lineage
    },
    origins: () => {
      // What a metric relation shows are none of its table's columns.
      origins ??= input.expansion === undefined ? originsOf(query) : []
      return origins
    },
    policies: [...appliedProtections(resolver.tables, protections), ...appliedReveals(outputs)],
    reveals,
    ranges: columnRanges(query, resolver.tables, protections),
    nested: nestedReads(resolver.tables, protections),
    checkParameters: (parameters) => {
      if (exceedAssumedSize(parameters)) checkValueSizes(query, parameters)
    },
    emit: (dialect, deletes) => {
      try {
        return split(written(dialect, deletes))
      } catch (thrown) {
        throw toSqlError(thrown)
      }
    },
    lifted,
    ...(Number.isFinite(liftedUntilMs) && { liftedUntilMs }),
    budgets: hidesLifted(resolver, input.tables) ? (input.expansion?.budgets ?? []) : [],
    hides: [...protections.values()].some(
      ({ filters, columns }) => filters.length > 0 || columns.some(isMaskedHere),
    ),
    emitCopied: (dialect, deletes) => {
      try {
        const copies = new Map<string, string>()
        const statement = split(written(dialect, deletes, copies))
        return { copies: new Map([...copies].map(([id, copy]) => [id, split(copy)])), statement }
      } catch (thrown) {
        throw toSqlError(thrown)
      }
    },
  }
}

/** The statement for the session's time zone. @throws SqlError 0A000 for what is served in UTC only */
function inZone(query: Query, { timeZone: name, expansion }: CompileInput): Query {
  const zone = name === undefined ? undefined : timeZone(name)
  if (zone === undefined) return query
  if (expansion !== undefined)
    throw new SqlError('0A000', 'Metrics in another time zone than UTC are not supported.', undefined, {
      hint: "Their periods are of UTC. SET TimeZone TO 'UTC' first.",
    })
  return inSessionZone(query, zone)
}

/** Whether the principal would see a column masked that the statement may read without masks. */
function hidesLifted({ lifted }: Resolver, tables: readonly GovernedTable[]): boolean {
  return tables.some((table) =>
    table.columns.some((column) => isMasked(column) && isLifted(lifted, table, column)),
  )
}

/** @throws SqlError 42P02 where a parameter must be a literal and has no value */
function assertValues({ parameters }: Resolver): void {
  for (const { number, needsValue } of parameters.values())
    if (needsValue) throw new SqlError('42P02', `there is no value for parameter $${number}`)
}

/** The types of all parameters up to the last, `$1` first. */
function parameterTypesOf(types: ReadonlyMap<number, SqlType>): readonly SqlType[] {
  return Array.from({ length: Math.max(0, ...types.keys()) }, (_, index) => types.get(index + 1) ?? 'text')
}

/** The type of a parameter after resolving: text where nothing decided it. */
function parameterType(parameter: ParameterExpr): SqlType {
  if (parameter.type === 'unknown') parameter.type = 'text'
  return parameter.type
}

function newResolver(input: CompileInput, rows: Resolver['shownRows']): Resolver {
  const { principal, tables, searchPath, database, parameterTypes, expansion } = input
  const resolver: Resolver = {
    database,
    schema: searchPath[0],
    findTable: (schema, name) => findTable(input, schema, name),
    principal,
    lifted: expansion === undefined ? [] : liftedFor(expansion, tables),
    // A text over metrics that has a name of ours is refused before it is expanded.
    isExpanded: expansion !== undefined,
    parameterTypes: parameterTypes ?? [],
    parameters: new Map(),
    parameterValues: new Map(input.parameterValues),
    policy: false,
    tables: [],
    sources: new Map(),
    ids: 0,
    shownRows: rows,
    spent: 0,
    // A metric's text is not the statement's, so what is written out has no places in it.
    expr: (node, env) =>
      expansion === undefined
        ? placed(node, () => resolveExpression(resolver, node, env))
        : resolveExpression(resolver, node, env),
    query: (select, outer) => resolveQuery(resolver, select, outer),
  }
  return resolver
}

/**
 * The table of a name. One without an active contract, unless the tenant opted in, is there for nobody but those who
 * oversee tables, and they are told why they may not read it.
 * @throws SqlError 42501
 */
function findTable(
  { tables, searchPath, principal }: Pick<CompileInput, 'tables' | 'searchPath' | 'principal'>,
  schema: string | undefined,
  name: string,
): GovernedTable | undefined {
  const isShown = (table: GovernedTable) => isReadable(table) || oversees(principal)
  for (const place of schema === undefined ? searchPath : [schema]) {
    const found = tables.filter((table) => isNamed(table, place, name))
    const [table] = found
    if (table === undefined || !found.some(isShown)) continue
    if (found.length > 1) throw new SqlError('42501', `permission denied for table ${name}`)
    if (!isReadable(table))
      throw new UnreadableTable(
        table.ref,
        `permission denied for table ${name}: it has no active contract`,
        absentRelation(schema, name),
      )
    return table
  }
  return undefined
}

function isNamed(
  { schemaName, tableName, foldsNames }: GovernedTable,
  schema: string,
  name: string,
): boolean {
  const own = (text: string) => (foldsNames ? foldName(text) : text)
  return tableName === own(name) && schemaName === own(schema)
}

/** The grants that lifted filters of tables that the statement names, or masks of columns that it reads. */
function liftedOf({ tables }: Resolver): readonly LiftedBy[] {
  return eachOnce(
    tables.flatMap(({ table, used }) => [
      ...(table.filtersLiftedBy ?? []),
      ...table.columns.flatMap(({ liftedBy = [] }, index) =>
        liftedBy.length > 0 && [...used].some((one) => columnAt(table, one) === index) ? liftedBy : [],
      ),
    ]),
  )
}

/** The index of the column of which an index is, its raw one, or that of a field inside it. */
function columnAt(table: GovernedTable, index: number): number {
  const place = placeAt(table, index)
  if (place !== undefined) return place.column
  return index < table.columns.length ? index : index - table.columns.length
}

function readsOf(resolver: Resolver): TableRead[] {
  const columns = new Map<GovernedTable, Set<number>>()
  for (const { table, used } of resolver.tables)
    columns.set(table, new Set([...(columns.get(table) ?? []), ...used]))
  return [...columns].map(([table, used]) => ({
    table,
    columns: table.columns
      .filter((_, index) => used.has(index) || used.has(rawIndex(table, index)))
      .map(({ name }) => name),
  }))
}
