/** Writes dimensions and simple metrics as a contract document of ODCS 3.2: properties with a `semanticType`. */

import { tableKey, tableName } from '../../core/table-ref.ts'
import type { NotCarried } from './draft.ts'
import type { ExportedLayer, ExportedTable } from './layer.ts'
import { portableOf } from './portable.ts'
import { identifier } from './sql-names.ts'
import type { WrittenDocument } from './write-ossie.ts'

/** @param name the id of the document */
export function writeOdcs(layer: ExportedLayer, name: string): WrittenDocument {
  const lost: NotCarried[] = []
  const measures = Map.groupBy(measuresOf(layer, lost), ({ table }) => table)
  const schema = layer.tables.map((table) =>
    writeObject(table, measures.get(tableKey(table.table)) ?? [], lost),
  )
  return {
    document: {
      ...{ apiVersion: 'v3.2.0', kind: 'DataContract', id: name, version: '1.0.0', status: 'draft' },
      schema,
    },
    notCarried: lost,
  }
}

interface Measure {
  readonly table: string
  readonly property: object
}

function measuresOf(layer: ExportedLayer, lost: NotCarried[]): readonly Measure[] {
  return [...layer.metrics.values()].flatMap((metric): Measure[] => {
    const { name, definition } = metric
    const found = portableOf(layer, metric, (_, column) => column)
    if (found.kind === 'none') {
      lost.push({ at: `metric ${name}`, why: found.why })
      return []
    }
    for (const member of ['term', 'variant', 'unit', 'format', 'owner', 'defaultGrain'] as const)
      if (definition[member] !== undefined)
        lost.push({ at: `metric ${name}`, why: `Its ${member} has no place` })
    const { label, description } = definition
    const about = {
      ...(label !== undefined && { businessName: label }),
      ...(description !== undefined && { description }),
    }
    return [
      {
        table: found.table,
        property: {
          name,
          semanticType: 'measure',
          logicalType: 'number',
          transformLogic: found.sql,
          ...about,
        },
      },
    ]
  })
}

function writeObject(
  { table, key, dimensions, relationships, time_dimension: time }: ExportedTable,
  measures: readonly Measure[],
  lost: NotCarried[],
) {
  for (const { name } of relationships)
    lost.push({
      at: `${tableName(table)}: relationship ${name}`,
      why: 'The contract of the table says it by foreign keys',
    })
  if (time !== undefined && dimensions.filter(({ kind }) => kind === 'time').length > 1)
    lost.push({ at: tableName(table), why: `That metrics are told by ${time} has no place` })
  const properties = dimensions.map(({ name, kind, type, label, description, expression, term }) => {
    if (term !== undefined) lost.push({ at: `dimension ${name}`, why: 'Its term has no place' })
    const isColumn = expression === identifier(name)
    return {
      name,
      semanticType: 'dimension',
      logicalType:
        kind === 'time' ? (type === 'date' ? 'date' : 'timestamp') : (logicalTypes[type ?? ''] ?? 'string'),
      ...(!isColumn && { transformLogic: expression }),
      ...(isColumn && key.includes(name) && { primaryKey: true, primaryKeyPosition: key.indexOf(name) + 1 }),
      ...(label !== undefined && { businessName: label }),
      ...(description !== undefined && { description }),
    }
  })
  const others = key
    .filter((name) => !dimensions.some((one) => one.name === name && one.expression === identifier(name)))
    .map((name) => ({ name, primaryKey: true, primaryKeyPosition: key.indexOf(name) + 1 }))
  return {
    name: table.name,
    physicalName: table.name,
    customProperties: [{ property: 'covenant', vendor: 'covenant', value: { table } }],
    properties: [...others, ...properties, ...measures.map(({ property }) => property)],
  }
}

const logicalTypes: Readonly<Record<string, string>> = {
  ...{ boolean: 'boolean', int: 'integer', long: 'integer', float: 'number', double: 'number' },
  ...{ date: 'date', timestamp: 'timestamp', timestamptz: 'timestamp' },
}
