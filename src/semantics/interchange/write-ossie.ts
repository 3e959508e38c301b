/**
 * Writes the semantic layer as a document of Apache Ossie 0.1.1. What only Covenant can say is in its extension, and is
 * listed. Members of an imported document that have no meaning here are written again unchanged.
 */

import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { NotCarried } from './draft.ts'
import type { ExportedDimension, ExportedLayer, ExportedTable } from './layer.ts'
import { isPlain, type Plain } from './members.ts'
import { extension, isOurs, ossieVersion } from './ossie-extension.ts'
import { portableOf } from './portable.ts'
import { identifier } from './sql-names.ts'

export interface WrittenDocument {
  readonly document: Readonly<Record<string, unknown>>
  readonly notCarried: readonly NotCarried[]
}

const dialect = 'ANSI_SQL'

/** @param kept semantic models that were imported, each as JSON */
export function writeOssie(layer: ExportedLayer, name: string, kept: readonly string[]): WrittenDocument {
  const lost: NotCarried[] = []
  const before = kept.map((json): unknown => JSON.parse(json)).filter(isPlain)
  const model = before.find((one) => one.name === name)
  const names = datasetNames(layer.tables, before)
  const nameOf = (table: TableRef) => names.get(tableKey(table)) ?? table.name
  const datasets = layer.tables.map((table) => {
    const given = objectsIn(before, 'datasets').find((one) => one.name === nameOf(table.table))
    return writeDataset(table, nameOf(table.table), given, lost)
  })
  const relationships = layer.tables.flatMap((table) =>
    table.relationships.map((one) => {
      const given = objectsIn(before, 'relationships').find(
        (each) => each.from === nameOf(table.table) && each.to === nameOf(one.to) && each.name === one.name,
      )
      return {
        name: one.name,
        from: nameOf(table.table),
        to: nameOf(one.to),
        from_columns: one.columns,
        to_columns: one.to_columns,
        ...keptMembers(given, ['ai_context']),
        ...extensions(given, undefined),
      }
    }),
  )
  const { metrics, own } = writeMetrics(layer, names, objectsIn(before, 'metrics'), lost)
  const written = {
    name,
    ...keptMembers(model, ['description', 'ai_context']),
    datasets,
    ...(relationships.length > 0 && { relationships }),
    ...(metrics.length > 0 && { metrics }),
    ...extensions(model, own.length > 0 ? { metrics: own } : undefined),
  }
  if (datasets.length === 0)
    lost.push({ at: name, why: 'There is no table with dimensions, so there is no model' })
  return {
    document: { version: ossieVersion, semantic_model: datasets.length > 0 ? [written] : [] },
    notCarried: lost,
  }
}

const objectsIn = (models: readonly Plain[], member: string): readonly Plain[] =>
  models.flatMap((model) => (Array.isArray(model[member]) ? model[member].filter(isPlain) : []))

/** Datasets have the names of their tables, with the namespace where two have the same; those of an import stay. */
function datasetNames(
  tables: readonly ExportedTable[],
  before: readonly Plain[],
): ReadonlyMap<string, string> {
  const count = Map.groupBy(tables, ({ table }) => table.name)
  const taken = new Set<string>()
  return new Map(
    tables.map(({ table }) => {
      const given = objectsIn(before, 'datasets').find(
        ({ source, name }) => isSource(source, table) && typeof name === 'string' && !taken.has(name),
      )
      const own =
        (count.get(table.name)?.length ?? 0) > 1 ? [...table.namespace, table.name].join('_') : table.name
      const name = String(given?.name ?? own)
      taken.add(name)
      return [tableKey(table), name]
    }),
  )
}

const isSource = (source: unknown, table: TableRef) =>
  typeof source === 'string' && (source === tableName(table) || source.endsWith(`.${tableName(table)}`))

function writeDataset(
  { table, key, dimensions, entity, time_dimension: time, kpis, sets }: ExportedTable,
  name: string,
  given: Plain | undefined,
  lost: NotCarried[],
) {
  const before = given === undefined ? [] : objectsIn([given], 'fields')
  const fields = dimensions.map((one) =>
    writeField(
      one,
      before.find((each) => each.name === one.name),
      lost,
    ),
  )
  const written = new Set(dimensions.map(({ name: own }) => own))
  // Fields that were no dimensions are what metrics of others are computed from.
  const others = before.filter(
    (one) => one.dimension === undefined && !written.has(String(one.name)) && one.expression !== undefined,
  )
  return {
    name,
    source: isSource(given?.source, table) ? given?.source : tableName(table),
    ...(key.length > 0 && { primary_key: key }),
    ...keptMembers(given, ['unique_keys', 'description', 'ai_context']),
    fields: [...fields, ...others],
    ...extensions(given, {
      table,
      ...(entity !== undefined && { entity }),
      ...(time !== undefined && { time_dimension: time }),
      ...(kpis && { kpis }),
      ...(sets && { sets }),
    }),
  }
}

function writeField(dimension: ExportedDimension, given: Plain | undefined, lost: NotCarried[]) {
  const { name, kind, label, description, expression, term, folder } = dimension
  const ours = { ...(term !== undefined && { term }), ...(folder !== undefined && { folder }) }
  sayDialect(`dimension ${name}`, expression, lost)
  return {
    name,
    expression: dialects(expression, given),
    dimension: { is_time: kind === 'time' },
    ...(label !== undefined && { label }),
    ...(description !== undefined && { description }),
    ...keptMembers(given, ['ai_context']),
    ...extensions(given, Object.keys(ours).length === 0 ? undefined : ours),
  }
}

/** Our expression, and those that an import had in other dialects. */
function dialects(expression: string, given: Plain | undefined) {
  const others = isPlain(given?.expression) ? objectsIn([given.expression], 'dialects') : []
  return { dialects: [{ dialect, expression }, ...others.filter((one) => one.dialect !== dialect)] }
}

function sayDialect(at: string, expression: string, lost: NotCarried[]): void {
  if (/::|~|\bilike\b/i.test(expression))
    lost.push({ at, why: `Its expression is written in PostgreSQL's dialect under ${dialect}` })
}

function writeMetrics(
  layer: ExportedLayer,
  names: ReadonlyMap<string, string>,
  before: readonly Plain[],
  lost: NotCarried[],
) {
  const metrics: object[] = []
  const own: object[] = []
  for (const metric of layer.metrics.values()) {
    const { name, definition, body } = metric
    const given = before.find((one) => one.name === name)
    const found = portableOf(
      layer,
      metric,
      (table, column) => `${identifier(names.get(table) ?? '')}.${column}`,
    )
    if (found.kind === 'none') {
      lost.push({ at: `metric ${name}`, why: `${found.why}, so it is in the extension of Covenant alone` })
      own.push({ name, definition: body })
      continue
    }
    sayDialect(`metric ${name}`, found.sql, lost)
    metrics.push({
      name,
      expression: dialects(found.sql, given),
      ...(definition.description !== undefined && { description: definition.description }),
      ...keptMembers(given, ['ai_context']),
      ...extensions(given, { as: found.sql, metric: { definition: body } }),
    })
  }
  return { metrics, own }
}

/** Extensions of others as they were, and ours. */
function extensions(given: Plain | undefined, ours: object | undefined) {
  const others = (Array.isArray(given?.custom_extensions) ? given.custom_extensions : []).filter(
    (one: unknown) => !isOurs(one),
  )
  const all = [...others, ...(ours === undefined ? [] : [extension(ours)])]
  return all.length > 0 ? { custom_extensions: all } : {}
}

function keptMembers(given: Plain | undefined, members: readonly string[]): Plain {
  return Object.fromEntries(
    members.flatMap((member) => (given?.[member] === undefined ? [] : [[member, given[member]]])),
  )
}
