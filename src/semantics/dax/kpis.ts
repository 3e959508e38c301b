/**
 * The KPIs of a cube in its tabular face, where a KPI belongs to the measure of its value and its other parts are measures,
 * too. A part that is an expression of MDX is no measure here, so it is left out.
 */

import type { KpiPart } from '../../core/metric.ts'
import type { Cube, CubeKpi, Measure } from '../cube/model.ts'

export interface TabularKpi {
  readonly kpi: CubeKpi
  /** Of its value. */
  readonly measure: Measure
  readonly parts: { readonly [Part in Exclude<KpiPart, 'value'>]?: Measure | undefined }
}

/** Those whose value is a measure, in their order. A measure has one at most, which is its first. */
export function tabularKpis({ kpis, measures }: Pick<Cube, 'kpis' | 'measures'>): readonly TabularKpi[] {
  const named = (uniqueName: string | undefined) => measures.find((each) => each.uniqueName === uniqueName)
  const found = new Map<Measure, TabularKpi>()
  for (const kpi of kpis) {
    const { value, goal, status, trend, weight } = kpi.parts
    const measure = named(value)
    if (measure === undefined || found.has(measure)) continue
    const parts = { goal: named(goal), status: named(status), trend: named(trend), weight: named(weight) }
    found.set(measure, { kpi, measure, parts })
  }
  return [...found.values()]
}
