/**
 * SAMPLEAXISWITHLOCALMINMAX: the points of a line chart. Up to its size a table is given whole. Beyond it the axis is cut
 * into bins of as many points, and of each bin and series those with the least and the greatest of each measure remain.
 * Analysis Services cuts its bins by another rule, which is not published; so do points differ, and the shape does not.
 */

import type { DaxExpression } from '../../wire/dax/ast.ts'
import { refuseDax } from '../../wire/dax/tokens.ts'
import { type DaxTable, type Environment, groupRowsBy, mapRows, placeOf, required } from './environment.ts'
import { orderedPlaces } from './order.ts'
import { compareForOrder, type DaxValue, identityOfRow, numberOf } from './values.ts'

interface Sample {
  readonly size: number
  readonly table: DaxTable
  /** Places of columns. */
  readonly axis: number
  readonly measures: readonly number[]
  readonly series: readonly number[]
  readonly isDescending: boolean
  readonly seriesMax: number
}

/** `(size, table, axis, measure …, least bins, [series …], ALPHABETICAL, order, size at most, series at most)`. */
export async function sampleAxis(
  items: readonly (DaxExpression | undefined)[],
  env: Environment,
): Promise<DaxTable> {
  const sample = await readSample(items, env)
  const shown = await withinSeries(sample, env)
  if (shown.length <= sample.size) return pick(sample.table, shown)
  return pick(sample.table, await extremes(sample, shown, env))
}

async function readSample(items: readonly (DaxExpression | undefined)[], env: Environment): Promise<Sample> {
  const usage = 'SAMPLEAXISWITHLOCALMINMAX takes a size, a table, its axis and measures, and bounds'
  const table = await env.run.table(required(items[1]), env)
  const placeIn = (given: DaxExpression | undefined): number => {
    const place = given?.kind === 'column' ? placeOf(table.columns, given) : -1
    return place < 0 ? refuseDax(usage) : place
  }
  const rest = items.slice(3)
  const end = rest.findIndex((item) => item?.kind === 'number')
  const word = rest.findIndex((item) => item?.kind === 'name' && /^ALPHABETICAL$/i.test(item.name))
  if (end < 1 || word < end) return refuseDax(usage)
  const numberAt = async (given: DaxExpression | undefined, otherwise: number) =>
    given === undefined ? otherwise : Math.trunc(numberOf((await env.run.scalar(given, env))[0]))
  const order = rest[word + 1]
  return {
    ...{ table, axis: placeIn(items[2]), measures: distinct(rest.slice(0, end).map(placeIn)) },
    size: await numberAt(required(items[0]), 0),
    series: distinct(
      rest.slice(end + 1, word).flatMap((item) => (item === undefined ? [] : [placeIn(item)])),
    ),
    isDescending: order?.kind === 'name' && /^DESC$/i.test(order.name),
    seriesMax: await numberAt(rest[word + 3], Number.POSITIVE_INFINITY),
  }
}

const distinct = (places: readonly number[]): readonly number[] => [...new Set(places)]

/** Places of the rows of the first series. */
async function withinSeries(sample: Sample, env: Environment): Promise<readonly number[]> {
  const { table, series, isDescending, seriesMax } = sample
  const places = [...table.rows.keys()]
  if (series.length === 0) return places
  env.run.charge(table.rows.length * series.length)
  const keys = await mapRows(env, table.rows, (row) => identityOfRow(series.map((place) => row[place])))
  const firsts = [...new Map(keys.map((key, row) => [key, row])).values()]
  if (firsts.length <= seriesMax) return places
  const order = await orderedPlaces(
    firsts.length,
    series.map((place) => ({
      values: firsts.map((row) => table.rows[row]?.[place]),
      descending: isDescending,
    })),
    env,
  )
  const shown = new Set(order.slice(0, seriesMax).map((place) => keys[firsts[place] ?? 0]))
  return places.filter((row) => shown.has(keys[row]))
}

async function extremes(
  { table, axis, measures, series, size }: Sample,
  shown: readonly number[],
  env: Environment,
): Promise<readonly number[]> {
  const at = (row: number, place: number): DaxValue => table.rows[row]?.[place]
  const ordered = await orderedPlaces(
    shown.length,
    [{ values: shown.map((row) => at(row, axis)), descending: false }],
    env,
  )
  const lines = await groupRowsBy(
    env,
    ordered.map((place) => shown[place] ?? 0),
    (row) => identityOfRow(series.map((place) => at(row, place))),
  )
  env.run.charge(shown.length * (measures.length + series.length))
  const bins = Math.max(1, Math.floor(size / (2 * measures.length * lines.size)))
  const chosen = new Set<number>()
  for (const line of lines.values()) {
    const length = Math.ceil(line.length / bins)
    for (const place of measures) {
      const compare = (one: number, other: number) => compareForOrder(at(one, place), at(other, place))
      const [least, greatest]: [number[], number[]] = [[], []]
      // By row, because a bin may be a whole line.
      await mapRows(env, line, (row, index) => {
        const bin = Math.floor(index / length)
        const [low = row, high = row] = [least[bin], greatest[bin]]
        least[bin] = compare(row, low) < 0 ? row : low
        greatest[bin] = compare(row, high) > 0 ? row : high
      })
      for (const row of [...least, ...greatest]) chosen.add(row)
    }
  }
  return shown.filter((row) => chosen.has(row))
}

const pick = ({ columns, rows }: DaxTable, places: readonly number[]): DaxTable => ({
  columns,
  rows: places.map((place) => rows[place] ?? []),
})
