/**
 * Looks for bounds in manifests that would show what was to be protected: the least and greatest values of a column.
 * engine/iceberg/column-stats.ts reads bounds to skip files by.
 */

import type { AvroRecord } from './avro.ts'
import { fieldNames } from './avro-fields.ts'
import { ReadFailure } from './read-failure.ts'

/** What manifests may keep of a protected column. */
export interface BoundRule {
  readonly column: string
  /** `none`: no bound; `tokens`: only bounds that begin as a token of a text does. */
  readonly allows: 'none' | 'tokens'
}

/** By field id. */
export type BoundRules = ReadonlyMap<number, BoundRule>

/** A file was added with a bound that its column's rule does not allow. Its reason holds no value. */
export class KeptBound extends ReadFailure {
  override readonly name = 'KeptBound'

  constructor({ column, allows }: BoundRule) {
    super(
      allows === 'none'
        ? `the manifests keep bounds of the column ${column}, which is to be encrypted: set write.metadata.metrics.column.${column} to none and write again`
        : `the manifests keep bounds of the column ${column} that are no tokens: write it by the plan of the table`,
    )
  }
}

const boundFields = { lower_bounds: 125, upper_bounds: 128 } as const
const tokenStart = Buffer.from('tok_')

/**
 * What checks the entries of a manifest.
 * @param fileSchema the schema of the manifest's files
 * @returns throws KeptBound for a bound that is not allowed, ReadFailure where bounds cannot be read
 */
export function boundChecker(fileSchema: unknown, rules: BoundRules): (file: AvroRecord) => void {
  const names = fieldNames(fileSchema, boundFields)
  return (file) => {
    for (const name of [names.lower_bounds, names.upper_bounds])
      for (const [fieldId, bound] of boundsIn(file[name])) {
        const rule = rules.get(fieldId)
        if (rule === undefined) continue
        if (rule.allows === 'none' || !tokenStart.equals(bound.subarray(0, tokenStart.length)))
          throw new KeptBound(rule)
      }
  }
}

/** Maps with keys other than strings are arrays of pairs in Avro (specification, Appendix A). */
function* boundsIn(pairs: unknown): Generator<readonly [number, Uint8Array]> {
  if (pairs === null || pairs === undefined) return
  if (!Array.isArray(pairs)) throw new ReadFailure('the bounds of a manifest entry are malformed')
  for (const pair of pairs as readonly { readonly key?: unknown; readonly value?: unknown }[]) {
    if (typeof pair?.key !== 'number' || !(pair.value instanceof Uint8Array))
      throw new ReadFailure('the bounds of a manifest entry are malformed')
    yield [pair.key, pair.value]
  }
}
