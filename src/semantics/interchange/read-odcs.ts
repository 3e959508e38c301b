/**
 * Reads what a contract document of ODCS 3.2 says of metrics: properties whose `semanticType` is measure or dimension. The
 * rest of the document is for the contract itself.
 */

import { metricNamePattern } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { DraftDimension, DraftMetric, NotCarried, ReadOptions, SemanticDraft } from './draft.ts'
import { type Members, membersOf, type Plain } from './members.ts'

const namePattern = new RegExp(metricNamePattern)
const versions = /^v3\.2\./

/** Members of a measure or dimension that are carried, or say what it is anyway. */
const understood = ['id', 'semanticType', 'logicalType', 'physicalType'] as const

/** Measures and dimensions of a document. What else it says of them is listed. */
export function readOdcs(document: Plain, options: ReadOptions): SemanticDraft {
  const lost: NotCarried[] = []
  const whole = membersOf(document, '', lost)
  if (!versions.test(whole.text('apiVersion') ?? ''))
    whole.lose('`semanticType` has a meaning in version 3.2 only', 'apiVersion')
  const objects = whole.objects('schema').flatMap((one) => readObject(one, options, lost) ?? [])
  return {
    tables: objects.flatMap(({ table, at, key, dimensions, time }) =>
      dimensions.length === 0
        ? []
        : [
            {
              at,
              table,
              body: { key, dimensions, relationships: [], ...(time && { time_dimension: time }) },
            },
          ],
    ),
    metrics: objects.flatMap(({ metrics }) => metrics),
    notCarried: lost,
    kept: [],
  }
}

function readObject(members: Members, options: ReadOptions, lost: NotCarried[]) {
  const properties = members.objects('properties')
  const typed = properties.map((property) => ({ property, type: property.text('semanticType') ?? 'column' }))
  const table = tableOf(members, options, lost)
  if (!typed.some(({ type }) => type === 'measure' || type === 'dimension')) return undefined
  if (table === undefined) {
    members.lose('Its table has no namespace. Give one')
    return undefined
  }
  const columnNames = new Map(
    properties.map((one) => [one.text('name'), one.text('physicalName') ?? one.text('name') ?? '']),
  )
  const dimensions: DraftDimension[] = []
  const metrics: DraftMetric[] = []
  for (const { property, type } of typed) {
    if (type === 'measure') metrics.push(...readMeasure(property, table))
    else if (type === 'dimension') dimensions.push(...readDimension(property, columnNames))
    else if (type !== 'column') property.lose('There is no such semantic type', 'semanticType')
  }
  const key = properties
    .filter((one) => one.flag('primaryKey') === true)
    .map((one) => columnNames.get(one.text('name')) ?? '')
  const times = dimensions.filter(({ kind }) => kind === 'time')
  if (times.length > 1) members.lose('Several dimensions are times, and none is the time of its measures')
  return {
    at: members.at,
    table,
    key,
    dimensions,
    metrics,
    time: times.length === 1 ? times[0]?.name : undefined,
  }
}

function tableOf(members: Members, { namespace }: ReadOptions, lost: NotCarried[]) {
  const own = members
    .objects('customProperties')
    .find((one) => one.text('property') === 'covenant')
    ?.any('value') as Plain | undefined
  const bound = own === undefined ? undefined : membersOf(own, members.at, lost).object('table')
  const levels = namespace ?? bound?.texts('namespace')
  const name = bound?.text('name') ?? members.text('physicalName') ?? members.text('name')
  return levels === undefined || levels.length === 0 || name === undefined
    ? undefined
    : { namespace: levels, name }
}

function readMeasure(property: Members, table: TableRef): readonly DraftMetric[] {
  const { name, about } = aboutOf(property)
  const expression = property.text('transformLogic')
  property.rest()
  if (expression === undefined) {
    property.lose('A measure needs its aggregation in `transformLogic`')
    return []
  }
  if (name === undefined) return []
  return [{ at: property.at, name, body: { kind: 'simple', table, expression, ...about } }]
}

function readDimension(
  property: Members,
  columnNames: ReadonlyMap<string | undefined, string>,
): readonly DraftDimension[] {
  const { name, about } = aboutOf(property)
  const logic = property.text('transformLogic')
  const type = property.text('logicalType')
  for (const ofColumn of ['physicalName', 'primaryKey', 'primaryKeyPosition', 'required', 'unique'])
    property.any(ofColumn)
  property.rest()
  if (name === undefined) return []
  const column = columnNames.get(property.text('name')) ?? name
  const expression = logic ?? (column === name ? undefined : `"${column.replaceAll('"', '""')}"`)
  return [
    {
      ...{ name, kind: type === 'date' || type === 'timestamp' ? 'time' : 'categorical' },
      ...(expression !== undefined && { expression }),
      ...about,
    },
  ]
}

function aboutOf(property: Members) {
  for (const name of understood) property.any(name)
  const given = property.text('name')
  const label = property.text('businessName')
  const description = property.text('description')
  const isName = given !== undefined && namePattern.test(given)
  if (!isName) property.lose('It is named by lower-case letters, digits and underscores', 'name')
  return {
    name: isName ? given : undefined,
    about: {
      ...(label !== undefined && { label }),
      ...(description !== undefined && { description }),
    },
  }
}
