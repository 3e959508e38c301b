/**
 * Shows a check run by a principal's sight of its table. Who may not see a number sees of the standard's metrics whether
 * they passed, and of the author's own statements nothing. What they see is shown once the longest time of a run has
 * passed, and without times, so that no duration tells an outcome.
 */

import type { StoredCheckRun } from '../../core/check-run.ts'
import type { StoredCheckResult } from '../../store/check/check-results.ts'
import type { Sight } from '../../store/governance/table-sight.ts'
import { checkRunMsMax } from './check-runner.ts'

/** Whether a run is shown: to those who do not see everything, only once no duration can be told from it. */
export function isShown(
  { requestedAt, finishedAt }: StoredCheckRun,
  { isWhole }: Sight,
  nowMs: number,
): boolean {
  return isWhole || (finishedAt !== undefined && nowMs >= requestedAt.getTime() + checkRunMsMax)
}

/** A run as a principal sees it. To others there are no times, and no state, because a hidden result may decide it. */
export function seenRun(run: StoredCheckRun, { isWhole }: Sight) {
  const { startedAt, finishedAt, spentMs, steps, stepsDone, rowsRead, bytesRead, reason, state, ...told } =
    run
  const took = { startedAt, finishedAt, spentMs, steps, stepsDone, rowsRead, bytesRead, reason }
  return isWhole ? { ...told, state, took } : { ...told, state: undefined, took: undefined }
}

/** A result as a principal sees it; undefined where it is hidden. */
export function seenResult(result: StoredCheckResult, sight: Sight) {
  const { key, element, metric, severity, outcome, custom, fieldIds } = result
  const named = { key, metric, severity, custom, ...(element !== '' && { column: element }) }
  if (sight.showsNumbers(fieldIds)) {
    const { value, unit, expected, engine, ms, reason, detail } = result
    return {
      ...{ ...named, outcome },
      ...(value !== undefined && { value }),
      ...(unit !== '' && { unit }),
      ...(expected !== undefined && { operator: expected.operator, threshold: expected.threshold }),
      ...(engine !== undefined && { engine }),
      ...(ms !== undefined && sight.isWhole && { ms }),
      ...(reason !== '' && { reason }),
      ...(detail !== undefined && { detail }),
    }
  }
  if (custom) return undefined
  // An error may depend on the data, so it is not told from a failure.
  const seen = outcome === 'passed' || outcome === 'not_run' ? outcome : 'failed'
  return { ...named, outcome: seen as typeof outcome }
}
