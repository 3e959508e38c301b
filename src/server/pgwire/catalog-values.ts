/**
 * Plans statements that ask the catalog for values on which no row has a say, beside governed data: the catalog gives the
 * values of `SELECT count(*), obj_description('sales.orders'::regclass) FROM sales.orders`, and the read path gets constants in
 * their places. The sizes of named tables are those of their snapshots. A call that reads a column stays refused.
 */

import { scanSync } from 'libpg-query'
import { inParallel } from '../../base/in-parallel.ts'
import { quoteIdentifier, quoteText } from '../../base/sql-text.ts'
import { SqlError } from '../../query/compile/base/sql-error.ts'
import type { PrepareOptions } from '../../query/query-service.ts'
import { catalogFunctions } from './catalog/allowed-names.ts'
import { type Fields, isFields, namesOf } from './catalog/covers.ts'
import { catalogPlan, catalogRow } from './catalog-plan.ts'
import type { CatalogService } from './catalog-service.ts'
import { planData } from './data-plan.ts'
import type { Plan } from './portal.ts'
import { queryContext, type SessionState } from './session-state.ts'
import { readStatements } from './statement.ts'

/** A call in a statement's text, by bytes. */
interface Call {
  readonly start: number
  readonly end: number
  readonly name: string
  /** Its text, and that of its first argument. */
  readonly text: string
  readonly argument: string
  /** Whether it is a whole output column without a name of its own, which then has the function's. */
  readonly isColumn: boolean
}

const sizes: ReadonlySet<string> = new Set(['pg_relation_size', 'pg_table_size', 'pg_total_relation_size'])

/** Whether a text may ask for the size of a table. */
export const namesSize = (text: string) => /pg_(?:table|(?:total_)?relation)_size/i.test(text)

/**
 * Plans such a statement, also one about the catalog alone that asks for the size of a named table.
 * @returns undefined for any other statement
 * @throws SqlError; WireError
 */
export async function planCatalogValues(
  session: SessionState,
  catalog: CatalogService,
  text: string,
  oids: readonly number[],
  options: PrepareOptions = {},
): Promise<Plan | undefined> {
  const sized = callsOf(text, (name) => sizes.has(name))
  const probe = withConstants(text, sized)
  const isCatalog = catalog.covers(probe) === 'catalog'
  if (isCatalog && sized.length === 0) return undefined
  if (!isCatalog) {
    const others = valueCalls(probe)
    if (sized.length + others.length === 0 || catalog.covers(withConstants(probe, others)) !== 'data')
      return undefined
  }
  const plan = async (how: PrepareOptions): Promise<Plan> => {
    const found = await inParallel(sized, 1, (call) => sizeOf(session, catalog, call, how))
    const withSizes = withConstants(text, sized, found)
    if (isCatalog) return await catalogPlan(session, catalog, withSizes, oids)
    const calls = valueCalls(withSizes)
    const withValues = withConstants(withSizes, calls, await valuesOf(session, catalog, calls))
    // The place of an error is one in the text with the values.
    return await planData(session, withValues, oids, how).catch((thrown: unknown) => {
      throw thrown instanceof SqlError ? thrown.at(undefined) : thrown
    })
  }
  const first = await plan(options)
  // A prepared statement asks again each time that it runs.
  let isFirst = true
  return {
    parameterOids: first.parameterOids,
    resultOids: first.resultOids,
    ...(first.heldBytes !== undefined && { heldBytes: first.heldBytes }),
    describe: (outbox) => first.describe(outbox),
    open: async (binding) => {
      const current = isFirst ? first : await plan({})
      isFirst = false
      return await current.open(binding)
    },
  }
}

/** The calls of the catalog's functions whose values stand beside data. */
const valueCalls = (text: string) => callsOf(text, (name) => catalogFunctions.has(name))

/** The outermost calls of such functions that read no column, no parameter and no row. */
function callsOf(text: string, isWanted: (name: string) => boolean): readonly Call[] {
  const [statement] = readStatements(text)
  if (statement === undefined) return []
  const { tokens } = scanSync(text)
  const bytes = Buffer.from(text)
  const found: Call[] = []
  visit(statement.tree, false)
  return found.sort((one, other) => one.start - other.start)

  function visit(value: unknown, isColumn: boolean): void {
    if (Array.isArray(value)) for (const each of value) visit(each, false)
    if (!isFields(value)) return
    const call = value.FuncCall
    if (isFields(call) && isWanted(nameOf(call)) && isConstant(value)) {
      const place = placeOf(Number(call.location ?? 0))
      if (place !== undefined) {
        found.push({ ...place, name: nameOf(call), isColumn })
        return
      }
    }
    for (const [key, each] of Object.entries(value))
      if (key === 'ResTarget' && isFields(each)) visit(each.val, each.name === undefined)
      else visit(each, false)
  }

  function placeOf(start: number): Pick<Call, 'start' | 'end' | 'text' | 'argument'> | undefined {
    const first = tokens.findIndex((token) => token.start === start)
    const open = first < 0 ? -1 : tokens.findIndex(({ text: word }, index) => index > first && word === '(')
    let depth = 0
    let firstEnd: number | undefined
    for (const token of open < 0 ? [] : tokens.slice(open)) {
      if (token.text === '(' || token.text === '[') depth++
      if (token.text === ')' || token.text === ']') depth--
      if (firstEnd === undefined && ((depth === 1 && token.text === ',') || depth === 0))
        firstEnd = token.start
      if (depth > 0) continue
      const from = tokens[open]?.end ?? start
      return {
        ...{ start, end: token.end, text: bytes.subarray(start, token.end).toString() },
        argument: bytes.subarray(from, firstEnd).toString(),
      }
    }
    return undefined
  }
}

/** Kinds of nodes, besides calls of the catalog's functions, whose value no row and no parameter decides. */
const constantKinds: ReadonlySet<string> = new Set([
  ...['TypeCast', 'TypeName', 'A_Const', 'A_ArrayExpr', 'List', 'String', 'Integer', 'Float', 'Boolean'],
])

function isConstant(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(isConstant)
  if (!isFields(node)) return true
  return Object.entries(node).every(([key, value]) => {
    const isKind = /^[A-Z]/.test(key)
    const isServed = !isKind || constantKinds.has(key)
    const isCall = key === 'FuncCall' && isFields(value) && isPlainCall(value)
    return (isServed || isCall) && isConstant(value)
  })
}

function isPlainCall(call: Fields): boolean {
  const name = nameOf(call)
  const isOther = ['agg_order', 'agg_filter', 'agg_star', 'agg_distinct', 'over'].some((key) => key in call)
  return !isOther && (catalogFunctions.has(name) || sizes.has(name))
}

/** The name of a function of pg_catalog; empty for another schema's. */
function nameOf({ funcname }: Fields): string {
  const names = namesOf(funcname)
  return names.length === 1 || names[0] === 'pg_catalog' ? (names.at(-1) ?? '') : ''
}

/** The text with a constant in the place of each call; NULL where none is given. */
function withConstants(text: string, calls: readonly Call[], constants: readonly string[] = []): string {
  const bytes = Buffer.from(text)
  let written = ''
  let at = 0
  for (const [index, { start, end, name, isColumn }] of calls.entries()) {
    const label = isColumn ? ` AS ${quoteIdentifier(name)}` : ''
    written += `${bytes.subarray(at, start).toString()}(${constants[index] ?? 'NULL'})${label}`
    at = end
  }
  return written + bytes.subarray(at).toString()
}

/** Types of the catalog's functions by OID, as the read path names them. Others are texts. */
const typeNames: ReadonlyMap<number, string> = new Map([
  [16, 'boolean'],
  [20, 'bigint'],
  [21, 'smallint'],
  [23, 'integer'],
  [26, 'bigint'],
  [1184, 'timestamptz'],
])

async function valuesOf(
  session: SessionState,
  catalog: CatalogService,
  calls: readonly Call[],
): Promise<readonly string[]> {
  if (calls.length === 0) return []
  const { values, oids } = await catalogRow(
    session,
    catalog,
    `SELECT ${calls.map(({ text }) => text).join(', ')}`,
  )
  return calls.map((_, index) => {
    const value = values[index] ?? null
    return `${value === null ? 'NULL' : quoteText(value)}::${typeNames.get(oids[index] ?? 0) ?? 'text'}`
  })
}

/** A call of a size as a constant: NULL where a row filter hides rows of the table, or no snapshot tells its size. */
async function sizeOf(
  session: SessionState,
  catalog: CatalogService,
  call: Call,
  { signal }: PrepareOptions,
): Promise<string> {
  const { values } = await catalogRow(
    session,
    catalog,
    `SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = (${call.argument})::pg_catalog.regclass AND c.relkind = 'r'`,
  )
  const [schema, name] = values
  if (schema == null || name == null || isSystem(schema)) return call.text
  const relation = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
  const { protections, tableBytes } = await session.parts.queries.prepare(
    queryContext(session),
    `SELECT 1 FROM ${relation}`,
    [],
    signal && { signal },
  )
  const isWhole = protections?.every(({ kind }) => kind !== 'row_filter') === true
  const bytes = isWhole ? tableBytes?.({ namespace: schema.split('.'), name }) : undefined
  return `${bytes ?? 'NULL'}::bigint`
}

const isSystem = (schema: string) => schema === 'pg_catalog' || schema === 'information_schema'
