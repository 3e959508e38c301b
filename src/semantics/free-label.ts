/** Refuses a label that is already how another metric, dimension, KPI or set of the table is found. */

import { Fault } from '../base/fault.ts'

interface Labelled {
  readonly name: string
  readonly label?: string | undefined
}

/** @throws Fault `unprocessable` where a label is the name or label of another, whatever its case */
export function assertFreeLabel(
  what: 'metric' | 'dimension' | 'KPI' | 'set',
  own: Labelled,
  others: readonly Labelled[],
): void {
  const lower = (text: string | undefined) => text?.toLowerCase()
  const taken = others.find(
    ({ name, label }) =>
      (own.label !== undefined && [lower(name), lower(label)].includes(lower(own.label))) ||
      (label !== undefined && lower(label) === lower(own.name)),
  )
  if (taken !== undefined)
    throw new Fault(
      'unprocessable',
      `The ${what} \`${taken.name}\` has that name or label already. Give \`${own.name}\` another \`label\`.`,
    )
}
