/**
 * Judges the files of a plan that was cached, perhaps for another table or under another territory, and remembers which
 * territory admitted it. Files and manifests never change, so a verdict stays true as long as the territory does.
 */

import { eachInTurns } from '../../base/in-turns.ts'
import { tableKey } from '../../core/table-ref.ts'
import { type TerritoryGuard, territoryGuard } from '../../storage/territory-guard.ts'
import type { TableSnapshot } from '../engine.ts'
import type { SnapshotPlan } from './snapshot-plan.ts'

const admittedBy = new WeakMap<SnapshotPlan, Set<string>>()
/** Territories that are remembered for one plan. */
const admittedMax = 16

/**
 * Judges every file of a plan, unless this territory admitted it before.
 * @throws TerritoryFailure, each time again: finding it costs no read
 */
export async function admitPlan(
  plan: SnapshotPlan,
  snapshot: TableSnapshot,
  signal: AbortSignal,
): Promise<void> {
  if (snapshot.territory === undefined || admittedBy.get(plan)?.has(keyOf(snapshot))) return
  const guard = territoryGuard(snapshot.territory.territory)
  for (const { kind, location } of plan.opened) guard.admit(kind, location)
  await eachInTurns(plan.dataFiles, signal, ({ location }) => guard.admit('data file', location))
  await eachInTurns(plan.deletes, signal, ({ location }) => guard.admit('delete file', location))
  rememberAdmitted(plan, snapshot, guard)
}

/** Remembers a plan whose files the guard admitted, and reports those outside once. */
export function rememberAdmitted(
  plan: SnapshotPlan,
  snapshot: TableSnapshot,
  { outside }: TerritoryGuard,
): void {
  if (snapshot.territory === undefined) return
  if (outside.length > 0) snapshot.territory.report(outside)
  const keys = admittedBy.get(plan) ?? new Set()
  if (keys.size >= admittedMax) keys.clear()
  admittedBy.set(plan, keys.add(keyOf(snapshot)))
}

/** The prefixes, too, because which rows are a table's depends on its uuid, and not on the version alone. */
function keyOf({ table, territory }: TableSnapshot): string {
  const { mode, version, prefixes = [] } = territory?.territory ?? {}
  return JSON.stringify([mode, version, tableKey(table.ref), prefixes])
}
