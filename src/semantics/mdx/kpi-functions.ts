/** Functions that give the parts of a KPI as members of the measures. */

import type { KpiPart } from '../../core/metric.ts'
import { refuseMdx } from '../../wire/mdx/tokens.ts'
import type { KpiFunction } from '../../wire/mdx/words.ts'
import { atMost, type RunFunction, required } from './arguments.ts'
import { findNamed } from './find-named.ts'
import { valueAt } from './sets.ts'
import { aMember, textOfValue } from './values.ts'

/** A part that the KPI does not have is no member. */
const partOf =
  (part: KpiPart): RunFunction =>
  (context, given) => {
    atMost(given, 1)
    const { space, formulas } = context.environment
    const name = textOfValue(valueAt(context, required(given, 0)))
    const kpi =
      findNamed(space.cube.kpis, (each) => [each.name], name) ??
      findNamed(space.cube.kpis, (each) => [each.caption], name) ??
      refuseMdx('there is no such KPI in this cube')
    const wanted = kpi.parts[part]
    const isWanted = ({ uniqueName }: { readonly uniqueName: string }) => uniqueName === wanted
    return aMember(space.measures.find(isWanted) ?? formulas.members.find(isWanted))
  }

export const kpiMemberFunctions = {
  KPIVALUE: partOf('value'),
  KPIGOAL: partOf('goal'),
  KPISTATUS: partOf('status'),
  KPITREND: partOf('trend'),
  KPIWEIGHT: partOf('weight'),
} satisfies Record<KpiFunction, RunFunction>
