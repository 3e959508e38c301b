/** Says which metrics and dimensions a change of columns breaks. It follows from the findings about the columns. */

import { columnOf } from '../../store/contract/put-in-force.ts'
import type { ColumnUse } from '../../store/semantics/column-uses.ts'
import { type Finding, finding, harmless, loosened } from './finding.ts'
import type { PropertySide } from './properties.ts'

type Consequence = readonly [change: string, impacts: typeof loosened | typeof doubtful, what: string]

const doubtful = { ...harmless, consumer: 'warning' } as const

function consequenceOf({ change, access }: Finding): Consequence | undefined {
  if (change === 'column-dropped') return ['broken', loosened, 'reads the column, which is dropped']
  if (change === 'column-replaced')
    return ['broken', loosened, 'reads the column, and another takes its place']
  if (change === 'type-changed' || change === 'type-widened')
    return ['retyped', doubtful, 'reads the column, whose type changes']
  if (change.startsWith('mask-') && access === 'tightened')
    return ['masked', doubtful, 'is computed from masked values']
  return undefined
}

/**
 * The findings that follow.
 * @param object the name of the object that the columns are in
 * @param findings about its columns
 * @param uses of its table
 */
export function metricFindings(
  object: string,
  findings: readonly Finding[],
  { properties, fieldIds }: PropertySide,
  uses: readonly ColumnUse[],
): readonly Finding[] {
  const byName = new Map(Object.entries(fieldIds))
  const byPlace = new Map(
    properties.map((property) => [`${object}.${property.name}`, byName.get(columnOf(property))]),
  )
  return findings.flatMap((cause) => {
    const consequence = consequenceOf(cause)
    const fieldId = byPlace.get(cause.at)
    if (consequence === undefined || fieldId === undefined) return []
    const [change, impacts, what] = consequence
    return uses
      .filter((use) => use.fieldIds.includes(fieldId))
      .map((use) => finding(cause.at, `${use.kind}-${change}`, impacts, `The ${use.what} ${what}`))
  })
}
