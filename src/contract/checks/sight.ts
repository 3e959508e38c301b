/**
 * Decides who sees what of a check run. Checks read every row and value, so a number could tell what a filter or mask
 * hides. A steward sees everything. Others see a number only where no filter and no mask on its columns concerns them;
 * else of the standard's metrics whether they passed, and of the author's own statements nothing. What they see is
 * shown once the longest time of a run has passed, and without times, so that no duration tells an outcome.
 */

import type { Governance } from '../../core/governance.ts'
import type { Principal } from '../../core/principal.ts'
import { everySchema, isReadable, isWhole, seenTable, showsValues } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { StoredCheckResult, StoredCheckRun } from '../../store/check/check-results.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import { checkRunMsMax } from './check-runner.ts'

/** What a principal may see of a table's checks. */
export interface Sight {
  /** Whether nothing of the table is hidden from the principal. */
  readonly isWhole: boolean
  /** Whether numbers of these columns may be seen. */
  readonly showsNumbers: (fieldIds: readonly number[]) => boolean
}

const whole: Sight = { isWhole: true, showsNumbers: () => true }
const closed: Sight = { isWhole: false, showsNumbers: () => false }

/**
 * The sights of a principal, by tableKey. A table that may not be read is left out, so nothing of it is shown.
 * @throws Fault where the governance cannot be loaded; nothing is shown then
 */
export async function sightsOf(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  tables: readonly TableRef[],
): Promise<ReadonlyMap<string, Sight>> {
  const keys = [...new Map(tables.map((table) => [tableKey(table), table])).values()]
  if (principal.roles.includes('steward')) return new Map(keys.map((table) => [tableKey(table), whole]))
  const governances = keys.length === 0 ? new Map() : await loadGovernances(store, tenant, keys)
  return new Map(
    keys.flatMap((table): readonly [string, Sight][] => {
      const governance: Governance | undefined = governances.get(tableKey(table))
      const isThere = governance === undefined || isReadable(governance)
      return isThere ? [[tableKey(table), sightOf(governance, principal)]] : []
    }),
  )
}

/** The sight of a principal that is no steward. @param governance undefined: the table is not known, so all is hidden */
export function sightOf(governance: Governance | undefined, principal: Principal): Sight {
  if (governance === undefined) return closed
  const seen = seenTable(governance, everySchema(governance), principal)
  return { isWhole: isWhole(seen), showsNumbers: (fieldIds) => showsValues(seen, fieldIds) }
}

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
