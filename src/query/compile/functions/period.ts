/**
 * Defines the start of a date's period, which requests for metrics group by. No date makes it fail, so it needs no
 * barrier. It is not in the registry: no statement, metric or policy can call it by name.
 *
 * Infinities have no period and stay what they are; so do dates of the earliest year, whose start is before all dates.
 */

import { type FunctionDef, fn, type TemplateCall } from '../base/function-definition.ts'

/** The year of the earliest date that 32 bits hold. It is not whole. */
const partialYear = -5_877_641

const wholeYear = `nullif(year({0}), ${partialYear})`
// Values are kept in range before a function sees them: DuckDB may compute a branch of CASE for other rows.
const duckdbPeriods: Readonly<Record<string, string>> = {
  day: '{0}',
  week: `({0} - CAST(CASE WHEN year({0}) > ${partialYear} THEN isodow({0}) - 1 ELSE 0 END AS INTEGER))`,
  month: `coalesce(make_date(${wholeYear}, month({0}), 1), {0})`,
  quarter: `coalesce(make_date(${wholeYear}, quarter({0}) * 3 - 2, 1), {0})`,
  year: `coalesce(make_date(${wholeYear}, 1, 1), {0})`,
}

function grainOf({ literals }: TemplateCall): string {
  const grain = literals[0] ?? ''
  if (!Object.hasOwn(duckdbPeriods, grain)) throw new Error('A date has no period of this grain.')
  return grain
}

/** The start of the period that a date is in: `day`, `week`, `month`, `quarter` or `year`. */
export const periodOfDate: FunctionDef = fn(
  'period of date',
  'text date',
  'date',
  ([, value = ''], call) => String(duckdbPeriods[grainOf(call)]).replaceAll('{0}', () => value),
  ([, value = ''], call) =>
    `CASE WHEN year(${value}) > ${partialYear} THEN date_trunc('${grainOf(call)}', ${value}) ELSE ${value} END`,
  { literal: [0] },
)
