/** Scores findings by class. docs/detection-quality.md says what is right. */

import { classes, type SensitiveClass } from '../../src/core/classification.ts'
import type { LabelledColumn } from './labelled-tables.ts'

/** `any`: every finding; `alert`: those that alert. */
const scopes = ['any', 'alert'] as const
export type Scope = (typeof scopes)[number]

/** The parts of a finding that are scored. */
export interface Claim {
  readonly class: SensitiveClass
  readonly confidence: number
}

export interface Score {
  readonly class: SensitiveClass
  readonly scope: Scope
  readonly positives: number
  readonly precision: number
  readonly recall: number
  readonly f1: number
  /** Alerting findings on columns that do not hold the class. */
  readonly falseAlerts: number
}

export interface Mistake {
  readonly scope: Scope
  readonly class: SensitiveClass
  readonly column: string
  readonly kind: string
  readonly what: 'missed' | 'false'
}

/** docs/reference/detection.md 4.1. */
const alertMin = 0.85

/**
 * Scores the claims about each column. A positive is a column that holds the class; for alerts, its name must say so
 * too, since no other column may alert. A finding by name alone on a column that is only named for the class is not
 * counted; an alert there is false.
 */
export function score(
  columns: readonly LabelledColumn[],
  claimsOf: (column: LabelledColumn) => readonly Claim[],
): { readonly scores: readonly Score[]; readonly mistakes: readonly Mistake[] } {
  const claims = columns.map(claimsOf)
  const mistakes: Mistake[] = []
  const scores = scopes.flatMap((scope) =>
    classes.map((scored): Score => {
      let found = 0
      let missed = 0
      let wrong = 0
      let falseAlerts = 0
      for (const [index, column] of columns.entries()) {
        const claim = claims[index]?.find((each) => each.class === scored)
        const alerts = claim !== undefined && claim.confidence >= alertMin
        const claimed = scope === 'alert' ? alerts : claim !== undefined
        const holds = column.holds.includes(scored)
        if (alerts && !holds) falseAlerts++
        if (claimed && holds) found++
        else if (claimed && (alerts || column.declared !== scored)) {
          wrong++
          mistakes.push({
            scope,
            class: scored,
            column: `${column.table}.${column.name}`,
            kind: column.kind,
            what: 'false',
          })
        } else if (holds && !claimed && (scope === 'any' || column.named)) {
          missed++
          mistakes.push({
            scope,
            class: scored,
            column: `${column.table}.${column.name}`,
            kind: column.kind,
            what: 'missed',
          })
        }
      }
      const precision = found / Math.max(found + wrong, 1)
      const recall = found / Math.max(found + missed, 1)
      return {
        class: scored,
        scope,
        positives: found + missed,
        precision,
        recall,
        f1: found === 0 ? 0 : (2 * precision * recall) / (precision + recall),
        falseAlerts,
      }
    }),
  )
  return { scores, mistakes }
}
