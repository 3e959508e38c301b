/**
 * What the functions `manifest.…(commit)` and `transform.current(commit)` answer with: facts that were read from storage
 * and store, not the commit's own claims. They are read only once a policy has asked for one whose value its verdict
 * depends on.
 */

import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { isJsonObject } from '../base/json.ts'

/** The functions by the name of the fact, with the type of each. */
export const manifestFactTypes = {
  added_files: 'int',
  added_rows: 'int',
  added_bytes: 'int',
  added_delete_files: 'int',
  deleted_files: 'int',
  outside_files: 'int',
  touched_partitions: 'int',
  is_rollback: 'bool',
  transform_current: 'bool',
} as const
export type ManifestFact = keyof typeof manifestFactTypes
export const manifestFactNames = Object.keys(manifestFactTypes) as readonly ManifestFact[]

/** The function by which a policy asks for a fact. */
export function functionOf(fact: ManifestFact): string {
  return fact === 'transform_current' ? 'transform.current' : `manifest.${fact}`
}

/** The function by which a policy asks for the nulls of a column. */
export const nullCountFunction = 'manifest.null_count'

const askingFunctions: ReadonlySet<string> = new Set([
  ...manifestFactNames.map(functionOf),
  nullCountFunction,
])

export interface ManifestFacts {
  readonly values: { readonly [Fact in ManifestFact]?: bigint | boolean }
  /**
   * Nulls in the added data files by field id, of columns for which every such file has a count. Absent where no policy
   * asked for them.
   */
  readonly nullCounts?: ReadonlyMap<number, bigint>
  /** Why some are missing, in words of ours. */
  readonly problem?: string
}

/** What reading takes longer for, so it is read only where a policy asks. */
export interface AskedFacts {
  readonly nullCounts: boolean
}

/** What some of the policies may ask. By their texts, so that a mention in a comment counts as well. */
export function askedBy(policies: readonly { readonly definitionCel: string }[]): AskedFacts {
  return { nullCounts: policies.some(({ definitionCel }) => definitionCel.includes('null_count')) }
}

/** Never rejects. */
export type ReadManifestFacts = (asked: AskedFacts) => Promise<ManifestFacts>

/** Nothing that a change names was added, deleted or rolled back. */
export const noManifestFacts: ManifestFacts = {
  values: {
    added_files: 0n,
    added_rows: 0n,
    added_bytes: 0n,
    added_delete_files: 0n,
    deleted_files: 0n,
    outside_files: 0n,
    touched_partitions: 0n,
    is_rollback: false,
    transform_current: true,
  },
}

/** The key of `commit` that holds the facts. No policy can name it by a field selection. */
export const factsKey = '@manifest'
/** The key of the facts that holds the nulls by field id. */
export const nullCountsKey = 'null_counts'

/** The `commit` binding with the facts. */
export function withManifestFacts(commit: JsonValue, { values, nullCounts }: ManifestFacts): JsonObject {
  if (!isJsonObject(commit)) throw new TypeError('the commit that policies see is not an object')
  const facts = new Map<string, JsonValue>(Object.entries(values))
  if (nullCounts !== undefined)
    facts.set(nullCountsKey, new Map([...nullCounts].map(([id, nulls]) => [String(id), nulls])))
  return new Map<string, JsonValue>([...commit, [factsKey, facts]])
}

/** Whether an expression is a call of one of the functions. Its operands are not looked at. */
export function asksManifest(expr: Expr): boolean {
  return askedFunction(expr) !== undefined
}

/** The function of these that an expression calls. */
export function askedFunction({ exprKind }: Expr): string | undefined {
  if (exprKind.case !== 'callExpr') return undefined
  const { function: name, target } = exprKind.value
  if (target?.exprKind.case !== 'identExpr') return undefined
  const qualified = `${target.exprKind.value.name}.${name}`
  return askingFunctions.has(qualified) ? qualified : undefined
}
