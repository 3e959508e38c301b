/** Reads a document of Apache Ossie (Open Semantic Interchange). Expressions are taken in the dialect ANSI_SQL. */

import { metricNamePattern } from '../../core/metric.ts'
import {
  type DraftDimension,
  type DraftMetric,
  type DraftRelationship,
  type DraftTable,
  inOrder,
  type Named,
  type NotCarried,
  needsOf,
  type ReadOptions,
  type SemanticDraft,
} from './draft.ts'
import { isPlain, type Members, membersOf, type Plain } from './members.ts'
import { keptOnly, takeExtension } from './ossie-extension.ts'
import { type Dataset, metricOf } from './ossie-metric.ts'
import { ossieForm, timeByType } from './ossie-version.ts'

const namePattern = new RegExp(metricNamePattern)
const dialect = 'ANSI_SQL'

/** @throws DocumentRefusal for another version, or what is no such document */
export function readOssie(document: Plain, options: ReadOptions): SemanticDraft {
  const lost: NotCarried[] = []
  const { isFlat, isTyped, models: kept } = ossieForm(document)
  const reading = { ...options, isTyped }
  const whole = membersOf(document, '', lost)
  whole.text('version')
  // Lists of what the format knows; they say nothing of this document.
  whole.any('dialects')
  whole.any('vendors')
  const all = isFlat ? [whole] : whole.objects('semantic_model')
  const models = all.map((model) => readModel(model, reading, lost))
  // A model has said by itself what nobody asked for.
  if (!isFlat) whole.rest()
  return {
    tables: inOrder(
      models.flatMap(({ tables }) => tables),
      ({ table }) => keyOf(table),
      ({ body }) => body.relationships.map(({ to }) => keyOf(to)),
    ),
    metrics: inOrder(
      models.flatMap(({ metrics }) => metrics),
      ({ name }) => name,
      needsOf,
    ),
    notCarried: lost,
    kept: kept.map((model) => ({ name: String(model.name), json: JSON.stringify(model) })),
  }
}

interface Reading extends ReadOptions {
  /** Whether fields and metrics have types. */
  readonly isTyped: boolean
}

const keyOf = ({ namespace, name }: DraftTable['table']) => [...namespace, name].join('\u001f')

function readModel(model: Members, reading: Reading, lost: NotCarried[]) {
  model.text('name')
  if (model.text('description') !== undefined) model.lose(keptOnly, 'description')
  if (model.any('ai_context') !== undefined) model.lose(keptOnly, 'ai_context')
  const own = takeExtension(model, lost)
  const datasets = model.objects('datasets').flatMap((one) => readDataset(one, reading, lost) ?? [])
  const byName = new Map(datasets.map((one) => [one.name, one]))
  for (const one of model.objects('relationships')) readRelationship(one, byName, lost)
  const metrics = model.objects('metrics').flatMap((one) => readMetric(one, byName, reading, lost) ?? [])
  const others = own?.objects('metrics').flatMap((one) => ownMetric(one) ?? []) ?? []
  own?.rest()
  model.rest()
  return {
    tables: datasets.map(({ table }) => table),
    metrics: [...metrics, ...others],
  }
}

function readDataset(members: Members, reading: Reading, lost: NotCarried[]): Dataset | undefined {
  const name = members.text('name') ?? ''
  const source = members.text('source') ?? ''
  const own = takeExtension(members, lost)
  const key = members.texts('primary_key')
  for (const kept of ['description', 'ai_context', 'unique_keys'])
    if (members.any(kept) !== undefined) members.lose(keptOnly, kept)
  const table = tableOf(source, own, reading)
  if (table === undefined) {
    members.lose(
      'Its source is a query, or names no namespace. Give the namespace, and a table as its source',
      'source',
    )
    return undefined
  }
  const relationships: DraftRelationship[] = []
  const fields = new Map<string, string>()
  const dimensions: DraftDimension[] = []
  for (const field of members.objects('fields')) {
    const found = readField(field, name, reading, lost)
    if (found === undefined) continue
    fields.set(found.name, found.expression ?? found.name)
    if (found.dimension !== undefined) dimensions.push(found.dimension)
  }
  const times = dimensions.filter(({ kind }) => kind === 'time')
  const declared = own?.text('time_dimension')
  const entity = own?.text('entity')
  const [kpis, sets] = [named(own?.any('kpis')), named(own?.any('sets'))]
  const timeDimension = declared ?? (times.length === 1 ? times[0]?.name : undefined)
  if (timeDimension === undefined && times.length > 1)
    members.lose('Several fields are times, and none says that metrics are told by it', 'fields')
  own?.rest()
  members.rest()
  return {
    name,
    fields,
    relationships,
    table: {
      at: members.at,
      table,
      body: {
        ...{ key, dimensions, relationships },
        ...(entity !== undefined && { entity }),
        ...(timeDimension && { time_dimension: timeDimension }),
        ...(kpis && { kpis }),
        ...(sets && { sets }),
      },
    },
  }
}

/** KPIs or sets of our own extension. */
function named(value: unknown): readonly Named[] | undefined {
  const isNamed = (one: unknown): one is Named => isPlain(one) && typeof one.name === 'string'
  return Array.isArray(value) ? value.filter(isNamed) : undefined
}

/** The table that a source names: the namespace is what stands before it, without a database. */
function tableOf(source: string, own: Members | undefined, { namespace }: ReadOptions) {
  const named = own?.object('table')
  const levels = named?.texts('namespace') ?? []
  const ownName = named?.text('name')
  if (ownName !== undefined && levels.length > 0) return { namespace: namespace ?? levels, name: ownName }
  const parts = source.split('.')
  if (parts.some((part) => !/^[a-zA-Z0-9_-]+$/.test(part))) return undefined
  const name = parts.at(-1) ?? ''
  const schema = parts.length > 2 ? parts.slice(1, -1) : parts.slice(0, -1)
  const found = namespace ?? schema
  return found.length > 0 ? { namespace: found, name } : undefined
}

interface Field {
  readonly name: string
  readonly expression: string | undefined
  readonly dimension: DraftDimension | undefined
}

function readField(
  members: Members,
  dataset: string,
  reading: Reading,
  lost: NotCarried[],
): Field | undefined {
  const name = members.text('name') ?? ''
  const own = takeExtension(members, lost)
  if (members.any('ai_context') !== undefined) members.lose(keptOnly, 'ai_context')
  const text = expressionOf(members)
  const dimension = members.object('dimension')
  const label = members.text('label')
  const description = members.text('description')
  const isTime = isTimeField(members, dimension?.flag('is_time'), reading)
  dimension?.rest()
  members.rest()
  if (text === undefined) return undefined
  // The columns of a field are those of its own dataset.
  const expression = text.replaceAll(new RegExp(`\\b${RegExp.escape(dataset)}\\.(?=[\\w"])`, 'g'), '')
  if (dimension === undefined && !isTime) {
    for (const [kept, value] of Object.entries({ label, description }))
      if (value !== undefined) members.lose(keptOnly, kept)
    return { name, expression, dimension: undefined }
  }
  if (!namePattern.test(name)) {
    members.lose('A dimension is named by lower-case letters, digits and underscores', 'name')
    return { name, expression, dimension: undefined }
  }
  const term = own?.text('term')
  const folder = own?.text('folder')
  own?.rest()
  return {
    name,
    expression,
    dimension: {
      name,
      kind: isTime ? 'time' : 'categorical',
      ...(expression !== name && { expression }),
      ...(label !== undefined && { label }),
      ...(description !== undefined && { description }),
      ...(term !== undefined && { term }),
      ...(folder !== undefined && { folder }),
    },
  }
}

const typeLost = 'It is not exported, because 0.1.1 has no types'

/** Whether a field is a time: by its own word, else by its type. @param said its own word */
function isTimeField(members: Members, said: boolean | undefined, { isTyped }: Reading): boolean {
  const datatype = isTyped ? members.text('datatype') : undefined
  const { isUnknown, isTime, isUndated } = timeByType(datatype, said)
  if (datatype !== undefined) members.lose(isUnknown ? 'There is no such type in 0.2' : typeLost, 'datatype')
  if (isTime && isUndated) members.lose('Its values are no dates, by which metrics could be told', 'datatype')
  return isTime && !isUndated
}

/** The expression in the dialect that we read. Those in others are kept. */
export function expressionOf(members: Members): string | undefined {
  const dialects = members.object('expression')?.objects('dialects') ?? []
  const texts = dialects.map((one) => ({ dialect: one.text('dialect'), text: one.text('expression'), one }))
  for (const { dialect: name, one } of texts) {
    one.rest()
    if (name !== dialect) one.lose(keptOnly)
  }
  const found = texts.find(({ dialect: name }) => name === dialect)?.text
  if (found === undefined) members.lose(`It has no expression in the dialect ${dialect}`, 'expression')
  return found
}

function readRelationship(
  members: Members,
  datasets: ReadonlyMap<string, Dataset>,
  lost: NotCarried[],
): void {
  const own = takeExtension(members, lost)
  if (members.any('ai_context') !== undefined) members.lose(keptOnly, 'ai_context')
  const [name = '', from = '', to = ''] = ['name', 'from', 'to'].map((each) => members.text(each))
  const columns = members.texts('from_columns')
  const toColumns = members.texts('to_columns')
  members.rest()
  const ownName = own?.text('name') ?? name
  own?.rest()
  const [many, one] = [datasets.get(from), datasets.get(to)]
  if (many === undefined || one === undefined) {
    members.lose('One of its datasets is not in the document, or was not carried')
    return
  }
  if (!namePattern.test(ownName) || ownName.includes('__')) {
    members.lose('A relationship is named by lower-case letters, digits and single underscores', 'name')
    return
  }
  many.relationships.push({ name: ownName, to: one.table.table, columns, to_columns: toColumns })
}

function readMetric(
  members: Members,
  datasets: ReadonlyMap<string, Dataset>,
  { isTyped }: Reading,
  lost: NotCarried[],
): DraftMetric | undefined {
  const name = members.text('name') ?? ''
  const own = takeExtension(members, lost)
  if (members.any('ai_context') !== undefined) members.lose(keptOnly, 'ai_context')
  const text = expressionOf(members)
  const description = members.text('description')
  if (isTyped && members.any('datatype') !== undefined) members.lose(typeLost, 'datatype')
  members.rest()
  if (text === undefined) return undefined
  if (!namePattern.test(name)) {
    members.lose('A metric is named by lower-case letters, digits and underscores', 'name')
    return undefined
  }
  const exported = own?.object('metric')
  if (exported !== undefined && own?.text('as') === text) {
    const found = ownMetric(exported, name, members.at)
    own.rest()
    return found
  }
  own?.any('as')
  own?.rest()
  if (exported !== undefined) exported.lose('The expression was changed since the export, so it decides')
  const found = metricOf(text, datasets)
  if (typeof found === 'string') {
    members.lose(found, 'expression')
    return undefined
  }
  const about = description === undefined ? {} : { description }
  return { at: members.at, name, body: { kind: 'simple', ...found, ...about } }
}

/** A metric as our own extension holds it: the body of the operation that saves it. */
function ownMetric(members: Members, named?: string, at = members.at): DraftMetric | undefined {
  const name = named ?? members.text('name')
  const body = members.any('definition')
  members.rest()
  if (name !== undefined && isPlain(body)) return { at, name, body }
  members.lose('It is not a metric as Covenant exports it')
  return undefined
}
