/**
 * Random queries in DAX of the shapes that reports write: groups with subtotals, matrices, slicers, ranges, top rows,
 * filters by values, highlights, shares of all, bounds of an axis, cards.
 */

import type { MetricRequest } from '../../../src/query/compile/metrics/request.ts'
import type { Field, FilterPair, Visual } from './visual-oracle.ts'

const field = (dax: string, name: string, grain?: 'month' | 'quarter' | 'year'): Field => ({
  dax,
  dimension: { name, grain },
})

const fields: readonly Field[] = [
  field("'orders'[region]", 'region'),
  field("'orders'[paid]", 'paid'),
  field("'orders'[initial]", 'initial'),
  field("'orders'[day (Month)]", 'day', 'month'),
  field("'orders'[day (Quarter)]", 'day', 'quarter'),
  field("'orders'[day (Year)]", 'day', 'year'),
  field("'area'[name]", 'area__name'),
  // An address, a number or a note for many rows, some of them NULL.
  field("'orders'[qty]", 'qty'),
  field("'orders'[email]", 'email'),
  field("'orders'[note]", 'note'),
]
const narrow = 7
const metrics = ['revenue', 'buyers', 'basket', 'stock'] as const

const day = (number: number) => new Date(Date.UTC(2024, 0, 1 + number)).toISOString().slice(0, 10)
const dateOf = (text: string) => `DATE(${text.split('-').map(Number).join(', ')})`

function randomFilter(random: () => number): FilterPair {
  const below = (count: number) => Math.floor(random() * count)
  const regions = ['north', 'south', 'east', 'west', 'nowhere'].filter(() => random() < 0.5)
  const list = regions.map((region) => `"${region}"`).join(', ')
  const from = below(365)
  const span = [day(from), day(from + 1 + below(120))] as const
  const where = (
    dimension: string,
    operator: MetricRequest['where'][number]['operator'],
    ...values: string[]
  ) => ({
    ...{ dimension, operator, values },
  })
  switch (below(12)) {
    case 0:
      if (regions.length === 0) break
      return {
        dax: `TREATAS({${list}}, 'orders'[region])`,
        where: [where('region', 'in', ...regions)],
      }
    case 1:
      if (regions.length === 0) break
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[region])), NOT('orders'[region] IN {${list}}))`,
        where: [where('region', 'not in', ...regions)],
      }
    case 2:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[day])), AND('orders'[day] >= ${dateOf(span[0])}, 'orders'[day] < ${dateOf(span[1])}))`,
        where: [where('day', '>=', span[0]), where('day', '<', span[1])],
      }
    case 3:
      return { dax: `TREATAS({TRUE()}, 'orders'[paid])`, where: [where('paid', '=', 't')] }
    case 4: {
      const least = below(60) - 30
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[qty])), 'orders'[qty] > ${least})`,
        where: [where('qty', '>', String(least))],
      }
    }
    case 5:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT(ISBLANK('orders'[note])))`,
        where: [where('note', 'is not null')],
      }
    case 6:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[initial])), OR(SEARCH("N", 'orders'[initial], 1, 0) >= 1, LEFT('orders'[initial], 1) = "w"))`,
        where: [where('initial', 'in', 'n', 'w')],
      }
    case 7:
      // A slicer of which only BLANK is chosen.
      return { dax: `TREATAS({BLANK()}, 'orders'[note])`, where: [where('note', 'is null')] }
    case 8:
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[note])), NOT('orders'[note] IN {BLANK()}))`,
        where: [where('note', 'is not null')],
      }
    case 9: {
      const least = below(60) - 30
      return {
        dax: `FILTER(KEEPFILTERS(VALUES('orders'[qty])), AND('orders'[qty] >= ${least}, 'orders'[qty] <= ${least + 20}))`,
        where: [where('qty', '>=', String(least)), where('qty', '<=', String(least + 20))],
      }
    }
    case 10: {
      const month = 1 + below(11)
      const start = (number: number) => `2024-${String(number).padStart(2, '0')}-01`
      return {
        dax: `TREATAS({DATE(2024, ${month}, 1)}, 'orders'[day (Month)])`,
        where: [where('day', '>=', start(month)), where('day', '<', start(month + 1))],
      }
    }
  }
  return {
    dax: `TREATAS({"east", "west"}, 'area'[name])`,
    where: [where('area__name', 'in', 'east', 'west')],
  }
}

/** A visual over the cube of cube-lake.ts. */
export function randomVisual(random: () => number): Visual {
  const below = (count: number) => Math.floor(random() * count)
  const left = [...fields.slice(0, random() < 0.2 ? fields.length : narrow)]
  const picked = Array.from({ length: below(4) }, () => left.splice(below(left.length), 1)).flat()
  // Several grains of one time are one dimension of a request.
  const own = picked.filter(
    (each, place) => picked.findIndex(({ dimension }) => dimension.name === each.dimension.name) === place,
  )
  const shown = ['orders', ...metrics.filter(() => random() < 0.4)]
  const filters = Array.from({ length: below(3) }, () => randomFilter(random))
  // A column that two variables filter is filtered by both.
  const names = filters.map((_, place) => `__DS0FilterTable${place === 0 ? '' : place + 1}`)
  const define = filters.map(({ dax }, place) => `VAR ${names[place]} = ${dax}`)
  const measures = shown.map((name, place) => {
    const written =
      below(3) === 0 ? `CALCULATE([${name}])` : below(2) === 0 ? `[${name}]` : `'orders'[${name}]`
    return `"v${place}", ${written}`
  })
  const base = { metrics: shown, fields: own, where: filters.flatMap(({ where }) => where) }
  const columns = own.map(({ dax }) => dax)
  const core = (groups: readonly string[]) =>
    `SUMMARIZECOLUMNS(${[...groups, ...names, ...measures].join(', ')})`
  const written = (body: string, more: readonly string[] = []) =>
    `${define.length + more.length > 0 ? `DEFINE ${[...define, ...more].join(' ')} ` : ''}EVALUATE ${body}`
  const all = own.map((_, place) => place)
  const plain = { ...base, sets: [all] }
  if (own.length === 0) return randomCard(random, plain, { measures, names, core: core([]), written })
  switch (below(11)) {
    case 0:
    case 1: {
      // Subtotals of each column, or one total of all.
      const isGroup = random() < 0.5 && own.length > 1
      const units = isGroup
        ? `ROLLUPGROUP(${columns.join(', ')}), "IsGrandTotalRowTotal"`
        : columns.map((column, place) => `${column}, "IsTotal${place}"`).join(', ')
      const sets = isGroup ? [all, []] : [all, ...all.map((place) => all.slice(0, place))]
      const query = written(`TOPN(100000, __DS0Core, [v0], 0)`, [
        `VAR __DS0Core = ${core([`ROLLUPADDISSUBTOTAL(${units})`])}`,
      ])
      return { ...base, query: `${query} ORDER BY [v0] DESC`, sets }
    }
    case 2: {
      const top = 1 + below(4)
      return {
        ...plain,
        query: written(`TOPN(${top}, __DS0Core, [v0], 0)`, [`VAR __DS0Core = ${core(columns)}`]),
        only: { top },
      }
    }
    case 3: {
      const above = below(60)
      const query = written(
        `SUMMARIZECOLUMNS(${[...columns, ...names, '__ValueFilterDM1', ...measures].join(', ')})`,
        [
          `VAR __ValueFilterDM1 = FILTER(KEEPFILTERS(SUMMARIZECOLUMNS(${[...columns, ...names, '"x", [orders]'].join(', ')})), [x] > ${above})`,
        ],
      )
      return { ...plain, query, only: { above } }
    }
    case 4: {
      const table = `SUMMARIZE('orders', ${columns.join(', ')})`
      const added = `ADDCOLUMNS(${table}, ${measures.join(', ')})`
      return {
        ...plain,
        query: written(names.length > 0 ? `CALCULATETABLE(${added}, ${names.join(', ')})` : added),
      }
    }
    case 5: {
      // A selection elsewhere highlights a part of each group.
      const highlight = randomFilter(random)
      const query = written(
        `SUMMARIZECOLUMNS(${[...columns, ...names, ...measures, '"h", IGNORE(CALCULATE([orders], KEEPFILTERS(__H0FilterTable)))'].join(', ')})`,
        [`VAR __H0FilterTable = ${highlight.dax}`],
      )
      return { ...plain, query, highlight }
    }
    case 6: {
      const query = written(
        `SUMMARIZECOLUMNS(${[...columns, ...names, ...measures, '"all", CALCULATE([orders], REMOVEFILTERS())'].join(', ')})`,
      )
      return { ...plain, query, hasAll: true }
    }
    case 7: {
      // The values of a slicer, of one column or of several.
      const table = own.length === 1 ? `VALUES(${columns[0]})` : `SUMMARIZE('orders', ${columns.join(', ')})`
      const kept = names.map((name) => `KEEPFILTERS(${name})`)
      const read = kept.length > 0 ? `CALCULATETABLE(${[table, ...kept].join(', ')})` : table
      const order = columns.map((column) => `${column}, 1`).join(', ')
      const query = written(`TOPN(100000, __DS0Core, ${order})`, [`VAR __DS0Core = ${read}`])
      return { ...plain, query, shape: 'values' }
    }
    case 8: {
      const lowest = `"lo", MINX(CURRENTGROUP(), [v0]), "hi", MAXX(CURRENTGROUP(), [v0])`
      const query = written(`GROUPBY(__DS0Core, ${lowest})`, [`VAR __DS0Core = ${core(columns)}`])
      return { ...plain, query, shape: 'bounds' }
    }
    case 9: {
      const field = fields[below(3)]
      if (field === undefined || field.dimension.name === 'paid') break
      const top = 1 + below(2)
      const inner = `SUMMARIZECOLUMNS(${[field.dax, ...names, '"x", [orders]'].join(', ')})`
      const query = written(
        `SUMMARIZECOLUMNS(${[...columns, ...names, '__SQDS0BodyLimited', ...measures].join(', ')})`,
        [`VAR __SQDS0Core = ${inner}`, `VAR __SQDS0BodyLimited = TOPN(${top}, __SQDS0Core, [x], 0)`],
      )
      return { ...plain, query, topOf: { field, top } }
    }
    case 10:
      if (own.length > 1) return randomMatrix(plain, { columns, core, written })
  }
  return { ...plain, query: written(core(columns)) }
}

type Written = (body: string, more?: readonly string[]) => string
type Plain = Omit<Visual, 'query'>

function randomCard(
  random: () => number,
  plain: Plain,
  {
    measures,
    names,
    core,
    written,
  }: {
    readonly measures: readonly string[]
    readonly names: readonly string[]
    readonly core: string
    readonly written: Written
  },
): Visual {
  return random() < 0.5
    ? { ...plain, query: written(core) }
    : {
        ...plain,
        query: written(`CALCULATETABLE(ROW(${measures.join(', ')}), ${names.join(', ') || 'ALL()'})`),
        isCard: true,
      }
}

/** The body of a matrix: the last column goes across, and its values are places among the second result's. */
function randomMatrix(
  plain: Plain,
  {
    columns,
    core,
    written,
  }: {
    readonly columns: readonly string[]
    readonly core: (groups: readonly string[]) => string
    readonly written: Written
  },
): Visual {
  const [rows, across] = [columns.slice(0, -1), columns.at(-1) ?? '']
  const groups = `ROLLUPADDISSUBTOTAL(ROLLUPGROUP(${rows.join(', ')}), "IsGrandTotalRowTotal")`
  const order = `[IsGrandTotalColumnTotal], ASC, ${across}, ASC`
  const query = written('__DS0BodyLimited', [
    `VAR __DS0Core = ${core([groups, `ROLLUPADDISSUBTOTAL(${across}, "IsGrandTotalColumnTotal")`])}`,
    `VAR __DS0PrimaryWindowed = TOPN(100000, SUMMARIZE(__DS0Core, ${rows.join(', ')}, [IsGrandTotalRowTotal]), [IsGrandTotalRowTotal], 0, ${rows.map((row) => `${row}, 1`).join(', ')})`,
    `VAR __DS0SecondaryBase = SUMMARIZE(__DS0Core, ${across}, [IsGrandTotalColumnTotal])`,
    `VAR __DS0Secondary = TOPN(100000, __DS0SecondaryBase, [IsGrandTotalColumnTotal], 1, ${across}, 1)`,
    `VAR __DS0BodyLimited = NATURALLEFTOUTERJOIN(__DS0PrimaryWindowed, SUBSTITUTEWITHINDEX(__DS0Core, "ColumnIndex", __DS0Secondary, ${order}))`,
  ])
  const last = columns.length - 1
  const shown = rows.map((_, place) => place)
  return { ...plain, query, sets: [[...shown, last], shown, [last], []], shape: 'matrix' }
}
