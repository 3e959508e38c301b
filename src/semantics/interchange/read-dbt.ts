/**
 * Reads dbt semantic models (MetricFlow YAML): the latest form, where models carry them, and the older one with measures
 * of its own. Both become the same parts, which dbt-metrics.ts turns into metrics.
 */

import { metricNamePattern } from '../../core/metric.ts'
import type { TableRef } from '../../core/table-ref.ts'
import { DocumentRefusal } from '../../wire/odcs/problem.ts'
import { type DbtMeasure, type DbtModel, readMetrics, readSimple } from './dbt-metrics.ts'
import {
  type DraftDimension,
  type DraftRelationship,
  type DraftTable,
  inOrder,
  type NotCarried,
  needsOf,
  type ReadOptions,
  type SemanticDraft,
} from './draft.ts'
import { isPlain, type Members, membersOf, type Plain } from './members.ts'
import { identifier } from './sql-names.ts'

const namePattern = new RegExp(metricNamePattern)

/** A model with what other models look up in it. */
interface ReadModel extends DbtModel {
  readonly at: string
  readonly key: string | undefined
  /** The name of the key. */
  readonly entity: string | undefined
  readonly foreign: readonly { readonly at: Members; readonly entity: string; readonly column: string }[]
}

/** @throws DocumentRefusal for what holds no semantic model and no metric */
export function readDbt(document: Plain, { namespace }: ReadOptions): SemanticDraft {
  const plainsOf = (list: unknown) => (Array.isArray(list) ? list.filter(isPlain) : [])
  const named = new Set(plainsOf(document.semantic_models).map(({ schema }) => schema))
  // A manifest of dbt names the schema of each model, its files do not.
  const isNamed = named.size > 0 && [...named].every((schema) => typeof schema === 'string')
  if (namespace === undefined && !isNamed)
    throw new DocumentRefusal([{ message: 'dbt names no namespaces: say in which one its models are' }])
  const lost: NotCarried[] = []
  const whole = membersOf(document, '', lost)
  if (!['models', 'semantic_models', 'metrics'].some((name) => Array.isArray(document[name])))
    throw new DocumentRefusal([
      { message: 'There are neither `models`, `semantic_models` nor `metrics` in the document' },
    ])
  whole.any('version')
  const models = [
    ...whole.objects('models').flatMap((one) => readLatest(one, namespace ?? []) ?? []),
    ...whole.objects('semantic_models').map((one) => readOlder(one, namespace)),
  ]
  const relationships = relationshipsOf(models)
  const metrics = readMetrics(whole.objects('metrics'), models)
  whole.rest()
  return {
    tables: inOrder(
      models.map((model): DraftTable => {
        const { at, table, key, dimensions, timeDimension } = model
        const own = relationships.get(model) ?? []
        return {
          ...{ at, table },
          body: {
            key: key === undefined ? [] : [key],
            dimensions,
            relationships: own,
            ...(isFree(model, own) && { entity: model.entity }),
            ...(timeDimension !== undefined && { time_dimension: timeDimension }),
          },
        }
      }),
      ({ table }) => table.name,
      ({ body }) => body.relationships.map(({ to }) => to.name),
    ),
    metrics: inOrder(metrics, ({ name }) => name, needsOf),
    notCarried: lost,
    kept: [],
  }
}

/** Whether nothing else of the table has the name of its key. */
function isFree({ entity, dimensions }: ReadModel, own: readonly DraftRelationship[]): boolean {
  return entity !== undefined && [...dimensions, ...own].every(({ name }) => name !== entity)
}

/** A model of dbt with `semantic_model`; undefined for one without. */
function readLatest(model: Members, namespace: readonly string[]): ReadModel | undefined {
  const name = model.text('name') ?? ''
  const given = model.any('semantic_model')
  const semantic = isPlain(given) ? model.object('semantic_model') : undefined
  if ((semantic?.flag('enabled') ?? given === true) !== true) {
    model.lose('It is no semantic model')
    return undefined
  }
  const semanticName = semantic?.text('name') ?? name
  semantic?.rest()
  const table = { namespace, name }
  const parts = newParts()
  for (const column of model.objects('columns')) {
    const columnName = column.text('name') ?? ''
    const about = aboutOf(column)
    const entity = column.any('entity')
    if (typeof entity === 'string') addEntity(parts, column, columnName, entity, columnName)
    else if (isPlain(entity)) {
      const members = column.object('entity') ?? column
      addEntity(parts, column, members.text('name') ?? columnName, members.text('type') ?? '', columnName)
      members.rest()
    }
    const dimension = column.any('dimension')
    if (typeof dimension === 'string') addDimension(parts, column, columnName, dimension, columnName, about)
    else if (isPlain(dimension)) {
      const members = column.object('dimension') ?? column
      const own = { ...about, ...aboutOf(members) }
      addDimension(parts, column, members.text('name') ?? columnName, members.text('type'), columnName, own)
      members.rest()
    }
    column.rest()
  }
  const derived = model.object('derived_semantics')
  for (const one of derived?.objects('dimensions') ?? []) {
    const own = one.text('name') ?? ''
    addDimension(parts, one, own, one.text('type'), one.text('expr') ?? own, aboutOf(one))
    one.rest()
  }
  for (const one of derived?.objects('entities') ?? []) {
    const own = one.text('name') ?? ''
    addEntity(parts, one, own, one.text('type') ?? '', one.text('expr') ?? own)
    one.rest()
  }
  derived?.rest()
  const timeDimension = model.text('agg_time_dimension')
  const ownMetrics = model.objects('metrics')
  model.rest()
  const read = { at: model.at, name: semanticName, table, timeDimension, ownMetrics }
  return { ...parts, ...read, ...leadingOf(parts), measures: new Map() }
}

/** An entry of `semantic_models`. */
function readOlder(model: Members, namespace: readonly string[] | undefined): ReadModel {
  const schema = model.text('schema')
  const name = model.text('name') ?? ''
  const [, reference] = /^\s*ref\(\s*['"]([^'"]+)['"]\s*\)\s*$/.exec(model.text('model') ?? '') ?? []
  const parts = newParts()
  for (const one of model.objects('entities')) {
    const own = one.text('name') ?? ''
    addEntity(parts, one, own, one.text('type') ?? '', one.text('expr') ?? own)
    one.rest()
  }
  for (const one of model.objects('dimensions')) {
    const own = one.text('name') ?? ''
    addDimension(parts, one, own, one.text('type'), one.text('expr') ?? own, aboutOf(one))
    one.rest()
  }
  const defaults = model.object('defaults')
  const timeDimension = defaults?.text('agg_time_dimension')
  defaults?.rest()
  const measures = new Map(
    model.objects('measures').map((one): readonly [string, DbtMeasure] => {
      const measure = readSimple(one, timeDimension)
      return [measure.name, measure]
    }),
  )
  model.rest()
  const table = { namespace: namespace ?? [schema ?? ''], name: reference ?? name }
  return { ...parts, at: model.at, name, table, timeDimension, measures, ...leadingOf(parts), ownMetrics: [] }
}

/** What a model is named by, and which entities lead away from it. */
function leadingOf({ key, entities, foreign }: Parts): Pick<ReadModel, 'key' | 'entity' | 'leading'> {
  const column = key()
  const names = [...entities].flatMap(([name, of]) => (of === column ? [name] : []))
  const entity = names.find((name) => namePattern.test(name) && !name.includes('__'))
  return { key: column, entity, leading: new Map(foreign.map((each) => [each.entity, each.column])) }
}

interface Parts extends Pick<ReadModel, 'dimensions' | 'foreign' | 'entities'> {
  readonly dimensions: DraftDimension[]
  readonly foreign: ReadModel['foreign'][number][]
  readonly entities: Map<string, string>
  readonly keys: Map<'primary' | 'unique', string>
  readonly key: () => string | undefined
}

function newParts(): Parts {
  const keys: Parts['keys'] = new Map()
  const key = () => keys.get('primary') ?? keys.get('unique')
  return { dimensions: [], foreign: [], entities: new Map(), keys, key }
}

function addEntity(parts: Parts, at: Members, entity: string, type: string, column: string): void {
  if (!/^\w+$/.test(column)) {
    at.lose('An entity must be one column')
    return
  }
  if (type === 'foreign') parts.foreign.push({ at, entity, column })
  else if (type === 'primary' || type === 'unique') {
    if (parts.keys.has(type)) {
      at.lose('The table has another key already')
      return
    }
    parts.keys.set(type, column)
    parts.entities.set(entity, column)
  } else at.lose(`An entity of the type ${type} is not supported`)
}

function addDimension(
  parts: Parts,
  at: Members,
  name: string,
  type: string | undefined,
  expression: string,
  about: Pick<DraftDimension, 'label' | 'description'>,
): void {
  if (!namePattern.test(name) || name.includes('__')) {
    at.lose('A dimension is named by lower-case letters, digits and single underscores')
    return
  }
  if (parts.dimensions.some((one) => one.name === name)) {
    at.lose('There is a dimension of that name already')
    return
  }
  const kind = type === 'time' ? 'time' : 'categorical'
  const params = at.object('type_params')
  if (params?.text('time_granularity') !== undefined)
    params.lose('Values keep the grain that they have in the table', 'time_granularity')
  params?.rest()
  if (at.text('granularity') !== undefined)
    at.lose('Values keep the grain that they have in the table', 'granularity')
  const isColumn = /^\w+$/.test(expression)
  parts.dimensions.push({
    ...{ name, kind },
    ...(expression !== name && { expression: isColumn ? identifier(expression) : expression }),
    ...about,
  })
}

function aboutOf(members: Members): Pick<DraftDimension, 'label' | 'description'> {
  const [label, description] = [members.text('label'), members.text('description')]
  return { ...(label !== undefined && { label }), ...(description !== undefined && { description }) }
}

/** Foreign entities lead to the model that has the entity as its key. */
function relationshipsOf(models: readonly ReadModel[]): ReadonlyMap<ReadModel, readonly DraftRelationship[]> {
  const byEntity = new Map<string, { readonly table: TableRef; readonly column: string }>()
  for (const { entities, table } of models)
    for (const [entity, column] of entities)
      if (!byEntity.has(entity)) byEntity.set(entity, { table, column })
  return new Map(
    models.map((model) => [
      model,
      model.foreign.flatMap(({ at, entity, column }): DraftRelationship[] => {
        const target = byEntity.get(entity)
        if (target !== undefined && namePattern.test(entity) && !entity.includes('__'))
          return [{ name: entity, to: target.table, columns: [column], to_columns: [target.column] }]
        at.lose(
          target === undefined
            ? `No model of the document has the entity ${entity} as its key`
            : 'A relationship is named by lower-case letters, digits and single underscores',
        )
        return []
      }),
    ]),
  )
}
