/** Compares what was measured with the threshold of a rule, and says what that means by its severity. */

import type { CheckFinding, CheckOutcome, Severity } from '../../core/check-run.ts'
import type { ModelQuality } from '../../wire/odcs/model.ts'
import { acceptance } from '../classify/thresholds.ts'

/** The severity that the standard's free text means. What is not understood is an error. */
export function severityOf(text: string | undefined): Severity {
  const word = (text ?? '').trim().toLowerCase()
  if (word === 'info') return 'info'
  return ['warning', 'warn', 'low', 'minor'].includes(word) ? 'warning' : 'error'
}

/** What a failed check is called by its severity. */
export function failedAs(severity: Severity): CheckOutcome {
  return severity === 'error' ? 'failed' : 'warned'
}

type Judged = Pick<CheckFinding, 'outcome' | 'value' | 'expected' | 'reason'>

/**
 * Judges a value.
 * @param value in text form; null where the statement gave none
 */
export function judge(
  { operator, threshold }: Pick<ModelQuality, 'operator' | 'threshold'>,
  severity: Severity,
  value: string | boolean | null,
): Judged {
  if (value === null) return { outcome: 'error', reason: 'no value' }
  const measured = { value: String(value) }
  // A rule without a threshold promises nothing; its value is on record.
  if (operator === undefined) return { ...measured, outcome: 'passed' }
  const found = { ...measured, expected: { operator, threshold } }
  const accepted = accepts(operator, threshold, value)
  if (accepted === undefined) return { ...found, outcome: 'error', reason: 'threshold' }
  return { ...found, outcome: accepted ? 'passed' : failedAs(severity) }
}

function accepts(operator: string, threshold: unknown, value: string | boolean): boolean | undefined {
  if (typeof threshold === 'boolean' || typeof value === 'boolean') {
    const isEqual = String(threshold) === String(value)
    if (operator === 'mustBe') return isEqual
    return operator === 'mustNotBe' ? !isEqual : undefined
  }
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return Number.isNaN(number) ? undefined : acceptance({ operator, threshold })?.accepts(number)
}
