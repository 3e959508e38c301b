/** What a function, operator or aggregate of the read path is: its types and how each engine writes it. */

import type { SqlType } from '../../core/sql-type.ts'

/**
 * Engine SQL with `{0}`, `{1}` … for arguments and `{*}` for all of them with commas; `null` where the engine
 * cannot do it with PostgreSQL's meaning. A function is given the written arguments and the call.
 */
export type Template = string | null | ((args: readonly string[], call: TemplateCall) => string)

/** What a template may look at besides the written arguments. */
export interface TemplateCall {
  readonly types: readonly SqlType[]
  readonly type: SqlType
  /** Values of arguments that are literals; undefined for others, null for NULL. */
  readonly literals: readonly (string | null | undefined)[]
  /** Writes an argument so that DuckDB knows that it may throw; unchanged where a statement reads nothing hidden. */
  readonly flat: (sql: string) => string
}

/** `any` takes every type; `anyelement` and `anyarray` of one signature go together. */
export type ArgType = SqlType | 'any' | 'anyelement' | 'anyarray'

interface Signature {
  /** Distinct per overload; part of expression keys. */
  readonly id: string
  readonly name: string
  readonly args: readonly ArgType[]
  /** The last argument may repeat. */
  readonly variadic: boolean
  readonly returns: ArgType | ((types: readonly SqlType[]) => SqlType)
}

export interface FunctionDef extends Signature {
  readonly duckdb: Template
  readonly trino: Template
  /**
   * SQL of a value that DuckDB has more cheaply, equal where the results are and NULL where they are: groups are
   * told by it. The SQL of `duckdb` must hold it, and no argument elsewhere.
   */
  readonly duckdbKey?: Template | undefined
  /** Whether some input makes it fail; then a row filter must hide the input, not only the result. */
  readonly fallible: boolean
  /** Arguments, by index, that must be literals. */
  readonly literalArgs: readonly number[]
}

/** Aggregates write themselves as text around their arguments; FILTER and DISTINCT are added by the emitter. */
export interface AggregateDef extends FunctionDef {
  /** percentile_cont and its like: WITHIN GROUP is required, and its key follows the direct arguments. */
  readonly ordered: boolean
  /** Whether ORDER BY inside the parentheses changes the result; else it is dropped. */
  readonly keepsOrder: boolean
  /** NULLs must be filtered out where the engine's substitute would keep them. */
  readonly skipsNulls: boolean
}

let count = 0

interface Options {
  readonly fallible?: boolean
  readonly variadic?: boolean
  readonly literal?: readonly number[]
  readonly duckdbKey?: Template
}

/**
 * Defines one overload of a function.
 *
 * @param args argument types, separated by blanks; `...` at the end repeats the last
 * @param trino as `duckdb` where left out
 */
export function fn(
  name: string,
  args: string,
  returns: FunctionDef['returns'],
  duckdb: Template,
  trino: Template = duckdb,
  options: Options = {},
): FunctionDef {
  const types = args.split(' ').filter((arg) => arg !== '' && arg !== '...') as ArgType[]
  return {
    id: `${name}#${++count}`,
    name,
    args: types,
    variadic: args.endsWith('...'),
    returns,
    duckdb,
    trino,
    duckdbKey: options.duckdbKey,
    fallible: options.fallible ?? false,
    literalArgs: options.literal ?? [],
  }
}

/** Defines one overload of an aggregate; see `fn`. */
export function aggregate(
  name: string,
  args: string,
  returns: AggregateDef['returns'],
  duckdb: Template,
  trino: Template = duckdb,
  options: Pick<Options, 'fallible' | 'literal'> &
    Partial<Pick<AggregateDef, 'ordered' | 'keepsOrder' | 'skipsNulls'>> = {},
): AggregateDef {
  return {
    ...fn(name, args, returns, duckdb, trino, options),
    ordered: options.ordered ?? false,
    keepsOrder: options.keepsOrder ?? false,
    skipsNulls: options.skipsNulls ?? false,
  }
}

/** All overloads by name. */
export function byName<T extends Signature>(defs: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const map = new Map<string, T[]>()
  for (const def of defs) map.set(def.name, [...(map.get(def.name) ?? []), def])
  return map
}
