/** Checks the KPIs and named sets of a table model before it is saved, over the cube that the whole of it makes. */

import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import type { TableModel } from '../core/metric.ts'
import type { SemanticModel } from '../core/semantic-model.ts'
import { cubeOf } from './cube/build-cubes.ts'
import { placeCalculations } from './cube/calculations.ts'
import { assertFreeLabel } from './free-label.ts'
import { listedFormulas } from './mdx/session.ts'

type Kind = 'kpi' | 'set'
const words = { kpi: 'KPI', set: 'set' } as const

/**
 * @param model with the table's model as it would be saved
 * @throws Fault `unprocessable` for one of the same name as another, or of which something is no part of the cube
 */
export function assertCalculations(
  { kpis = [], sets = [], table }: TableModel,
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
): void {
  if (kpis.length + sets.length === 0) return
  assertNames('kpi', kpis)
  assertNames('set', sets)
  const cube = cubeOf({ principal, catalog: '' }, { model, governances: withoutMasks(governances) }, table)
  if (cube === undefined) {
    const [kind, name] = kpis[0] ? (['kpi', kpis[0].name] as const) : (['set', sets[0]?.name ?? ''] as const)
    refuse(kind, name, 'the table has no metric yet. Define one first.')
  }
  const { refused } = placeCalculations(cube, { kpis, sets }, new Set())
  for (const { kind, name, why } of refused) refuse(kind, name, why)
  const formulas = cube.sets.map(({ formula }) => ({ cube: cube.name, formula }))
  for (const each of listedFormulas(cube, formulas))
    if (each.kind === 'set' && each.hierarchies.length === 0)
      refuse('set', each.name, 'its expression is not a set of members of the cube.')
}

function refuse(kind: Kind, name: string, why: string): never {
  const members = kind === 'kpi' ? { kpi: name } : { set: name }
  throw new Fault('unprocessable', `The ${words[kind]} \`${name}\` is refused: ${why}`, { members })
}

function assertNames(
  kind: Kind,
  all: readonly { readonly name: string; readonly label?: string | undefined }[],
) {
  for (const [index, one] of all.entries()) {
    const before = all.slice(0, index)
    if (before.some(({ name }) => name === one.name)) refuse(kind, one.name, 'the name is there twice.')
    try {
      assertFreeLabel(words[kind], one, before)
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown
      refuse(kind, one.name, thrown.publicMessage)
    }
  }
}

/** Nobody in particular: what a mask hides from an author is a part of the cube all the same. */
const principal = { sub: '', roles: [] }

function withoutMasks(governances: ReadonlyMap<string, Governance>): ReadonlyMap<string, Governance> {
  return new Map(
    [...governances].map(([key, governance]) => [
      key,
      { ...governance, columns: governance.columns.map((column) => ({ ...column, masks: [] })) },
    ]),
  )
}
