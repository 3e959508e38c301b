/** Looks for bounds in manifests that would show what was to be protected: the least and greatest values of a column. */

import { ReadFailure } from '../read-failure.ts'
import { boundsOf, type CountedEntry } from './column-stats.ts'

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

const tokenStart = Buffer.from('tok_')

/** @throws KeptBound for a bound that is not allowed, ReadFailure where bounds cannot be read */
export function assertBounds(entry: CountedEntry, rules: BoundRules): void {
  for (const [fieldId, bound] of boundsOf(entry)) {
    const rule = rules.get(fieldId)
    if (rule === undefined) continue
    if (rule.allows === 'none' || !tokenStart.equals(bound.subarray(0, tokenStart.length)))
      throw new KeptBound(rule)
  }
}
