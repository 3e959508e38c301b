/** Defines how functions, operators and aggregates are declared: their types and their SQL for each engine. */

import type { NumericSize, SqlType } from '../../../core/sql-type.ts'

/**
 * Engine SQL with `{0}`, `{1}` … for arguments and `{*}` for all of them with commas; `null` where the engine has no
 * SQL with PostgreSQL's meaning. A function receives the written arguments and the call.
 */
export type Template = string | null | ((args: readonly string[], call: TemplateCall) => string)

/** What a template may use besides the written arguments. */
export interface TemplateCall {
  readonly types: readonly SqlType[]
  readonly type: SqlType
  /** Values of arguments that are literals; undefined for others, null for NULL. */
  readonly literals: readonly (string | null | undefined)[]
  /** Marks an argument as one that may throw, for DuckDB; unchanged where nothing is hidden. See flat.ts. */
  readonly flat: (sql: string) => string
  /** Precision and scale of numerics and integers, as engines have them; undefined where only the engine knows. */
  readonly sizeOf: (index: number) => NumericSize | undefined
  /** Whether the result is a double that stands for a numeric. */
  readonly isDouble: () => boolean
}

/** `any` accepts every type; `anyelement` and `anyarray` of one signature must match. */
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
   * SQL of a cheaper value by which DuckDB groups. It must be equal, or NULL, exactly where the results are. The SQL
   * of `duckdb` must contain it, and no argument elsewhere.
   */
  readonly duckdbKey?: Template | undefined
  /** Whether some input makes the function fail. Then the barrier must hide its input, not only its result. */
  readonly fallible: boolean
  /** Whether it writes its arguments as texts, and fails where a cast to text can. */
  readonly writesTexts?: boolean
  /** Arguments, by index, that must be literals. */
  readonly literalArgs: readonly number[]
  /** Whether an argument, by index, is taken by its value where it is a parameter. Other expressions stay. */
  readonly takesValue?: ((index: number) => boolean) | undefined
  /** The result of literals, in PostgreSQL's text form. By a literal the engine prunes. */
  readonly fold?: ((literals: readonly string[]) => string) | undefined
}

/** An aggregate. The emitter adds FILTER and DISTINCT to its template. */
export interface AggregateDef extends FunctionDef {
  /** Whether WITHIN GROUP is required, as by percentile_cont. Its key follows the direct arguments. */
  readonly ordered: boolean
  /** Whether ORDER BY inside the parentheses changes the result; otherwise it is dropped. */
  readonly keepsOrder: boolean
  /** Whether NULLs must be filtered out where the engine's substitute keeps them. */
  readonly skipsNulls: boolean
}

let count = 0

interface Options {
  readonly fallible?: boolean
  readonly writesTexts?: boolean
  readonly variadic?: boolean
  readonly literal?: readonly number[]
  readonly duckdbKey?: Template
  readonly takesValue?: FunctionDef['takesValue']
  readonly fold?: FunctionDef['fold']
}

/**
 * Defines one overload of a function.
 *
 * @param args argument types, separated by blanks; `...` at the end repeats the last
 * @param trino default: the same as `duckdb`
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
    ...(options.writesTexts && { writesTexts: true }),
    literalArgs: options.literal ?? [],
    takesValue: options.takesValue,
    fold: options.fold,
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

/** The template of a function that is NULL where an argument is, and fails for none of its other arguments then. */
export const strictly = (template: Template): Template => {
  if (template === null) return null
  return (args, call) => {
    const written =
      typeof template === 'string'
        ? template.replace(/\{(\d+)\}/g, (_, index) => args[Number(index)] ?? '')
        : template(args, call)
    const open = args.filter((_, index) => typeof call.literals[index] !== 'string')
    const tests = open.map((arg) => `${arg} IS NOT NULL`)
    return tests.length === 0 ? written : `CASE WHEN ${tests.join(' AND ')} THEN ${written} END`
  }
}

/** Groups overloads by name. */
export function byName<T extends Signature>(defs: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const map = new Map<string, T[]>()
  for (const def of defs) map.set(def.name, [...(map.get(def.name) ?? []), def])
  return map
}
