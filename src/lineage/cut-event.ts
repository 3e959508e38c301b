/**
 * Cuts the body of a lineage event to what somebody may see: the names of its run, job, datasets and columns, without
 * datasets that are hidden. Facets of the run and the job, which hold SQL texts and error messages, stay for those who
 * may see texts, and then only where no dataset of the event is hidden and the facet names no hidden table. What is not listed here
 * is left out, because producers add facets of their own.
 */

import type { LineageName } from '../core/lineage.ts'

/** What somebody may see of an event. */
export interface EventSight {
  /** Whether texts may be seen at all. */
  readonly text: boolean
  /** Whether a dataset is seen. */
  readonly isSeen: (name: LineageName) => boolean
  /** Whether a text names a table that may not be read. */
  readonly namesHidden: (text: string) => boolean
}

type Json = Readonly<Record<string, unknown>>

/** The body without what is not seen. */
export function cutEvent(body: string, sight: EventSight): string {
  const event = objectOf(JSON.parse(body))
  const withText = sight.text && namesIn(body).every(sight.isSeen)
  const texts = (owner: Json) => (withText ? shownTexts(objectOf(owner.facets), sight) : {})
  const { run, job, dataset } = event
  return JSON.stringify({
    ...textsOf(event, 'eventType', 'eventTime', 'producer', 'schemaURL'),
    ...(isObject(run) && { run: { ...textsOf(run, 'runId'), facets: { ...texts(run), ...parentOf(run) } } }),
    ...(isObject(job) && { job: { ...textsOf(job, 'namespace', 'name'), facets: texts(job) } }),
    ...listed(event, 'inputs', sight),
    ...listed(event, 'outputs', sight),
    ...(isObject(dataset) && { dataset: cutDatasets([dataset], sight)[0] }),
  })
}

/** The datasets that an event names, also in column lineage. */
export function namesIn(body: string): readonly LineageName[] {
  if (body === '') return []
  const { inputs, outputs, dataset } = objectOf(JSON.parse(body))
  const named = [...listOf(inputs), ...listOf(outputs), ...listOf([dataset])]
  return [...named, ...named.flatMap(columnInputs)].flatMap(nameOf)
}

/** The words of the facets of an event's run and job, in lower case. A qualified name gives those of its parts. */
export function wordsIn(body: string): readonly string[] {
  if (body === '') return []
  const { run, job } = objectOf(JSON.parse(body))
  return [...new Set([run, job].flatMap((owner) => words(stringsOf(objectOf(owner).facets).join('\n'))))]
}

/** Words of which plain names of tables consist. */
function words(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9_$]+/g) ?? []
}

/** All texts in a value, names of members included. They are not read from JSON, where `\n` stands before a word. */
function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsOf)
  return isObject(value)
    ? Object.entries(value).flatMap(([name, member]) => [name, ...stringsOf(member)])
    : []
}

/** Tells whether a text names one of these tables. @param names in lower case */
export function namesTable(names: ReadonlySet<string>): (text: string) => boolean {
  const others = [...names].filter((name) => !/^[a-z0-9_$]+$/.test(name))
  return (text) => {
    const lower = text.toLowerCase()
    return words(text).some((word) => names.has(word)) || others.some((name) => lower.includes(name))
  }
}

function shownTexts(facets: Json, { namesHidden }: EventSight): Json {
  const shown = Object.entries(facets).filter(
    ([name, facet]) => name !== 'parent' && !namesHidden([name, ...stringsOf(facet)].join('\n')),
  )
  return Object.fromEntries(shown)
}

function parentOf(run: Json): Json {
  const parent = objectOf(objectOf(run.facets).parent)
  if (!isObject(parent.run)) return {}
  const job = isObject(parent.job) && { job: textsOf(parent.job, 'namespace', 'name') }
  return { parent: { run: textsOf(parent.run, 'runId'), ...job } }
}

function listed(event: Json, key: 'inputs' | 'outputs', sight: EventSight): Json {
  return event[key] === undefined ? {} : { [key]: cutDatasets(listOf(event[key]), sight) }
}

function cutDatasets(datasets: readonly Json[], { isSeen }: EventSight): readonly Json[] {
  const isShown = (named: Json) => nameOf(named).some(isSeen)
  return datasets.filter(isShown).map((dataset) => {
    const { schema, columnLineage } = objectOf(dataset.facets)
    return {
      ...textsOf(dataset, 'namespace', 'name'),
      facets: {
        ...(isObject(schema) && { schema: { fields: fieldsOf(schema) } }),
        ...(isObject(columnLineage) && { columnLineage: cutColumns(columnLineage, isShown) }),
      },
    }
  })
}

function fieldsOf({ fields }: Json): readonly Json[] {
  return listOf(fields).map((field) => ({
    ...textsOf(field, 'name', 'type'),
    ...(field.fields !== undefined && { fields: fieldsOf(field) }),
  }))
}

function cutColumns({ fields, dataset }: Json, isShown: (named: Json) => boolean): Json {
  const inputs = (list: unknown) =>
    listOf(list)
      .filter(isShown)
      .map(({ transformations, ...input }) => ({
        ...textsOf(input, 'namespace', 'name', 'field'),
        ...(transformations !== undefined && {
          transformations: listOf(transformations).map(({ masking, ...one }) => ({
            ...textsOf(one, 'type', 'subtype'),
            ...(typeof masking === 'boolean' && { masking }),
          })),
        }),
      }))
  return {
    fields: Object.fromEntries(
      Object.entries(objectOf(fields)).map(([column, lineage]) => [
        column,
        { inputFields: inputs(objectOf(lineage).inputFields) },
      ]),
    ),
    ...(dataset !== undefined && { dataset: inputs(dataset) }),
  }
}

function columnInputs(dataset: Json): readonly Json[] {
  const { fields, dataset: whole } = objectOf(objectOf(dataset.facets).columnLineage)
  return [
    ...Object.values(objectOf(fields)).flatMap((one) => listOf(objectOf(one).inputFields)),
    ...listOf(whole),
  ]
}

function nameOf({ namespace, name }: Json): readonly LineageName[] {
  return typeof namespace === 'string' && typeof name === 'string' ? [{ namespace, name }] : []
}

/** Those of these members that are texts. */
function textsOf(from: Json, ...keys: readonly string[]): Json {
  return Object.fromEntries(keys.flatMap((key) => (typeof from[key] === 'string' ? [[key, from[key]]] : [])))
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
