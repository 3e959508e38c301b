/**
 * Brings the documents of a dbt project together, because metrics of one file are made of measures of another. A
 * `semantic_manifest.json`, as dbt writes it, becomes the older form of the files that it was made from.
 */

import { assertOnce, pointerIn, type SourceDocument } from './documents.ts'
import { type SemanticDraft, withPointers } from './draft.ts'
import { isPlain, type Plain } from './members.ts'

const lists = ['models', 'semantic_models', 'metrics'] as const

interface DbtProject {
  readonly document: Plain
  /** The draft with pointers into the documents. */
  readonly placed: (draft: SemanticDraft) => SemanticDraft
}

/** One document of all. @throws DocumentRefusal for a model or a metric that two of them define */
export function dbtProject(documents: readonly SourceDocument[]): DbtProject {
  const read = documents.map(({ label, value }) => ({
    label,
    value: isManifest(value) ? filesOf(value) : value,
  }))
  const [only, ...more] = read
  if (only !== undefined && more.length === 0)
    return { document: only.value, placed: (draft) => withPointers(draft, (at) => pointerIn(only.label, at)) }
  assertOnce(
    read.map(({ label, value }) => ({
      label,
      names: lists.flatMap((list) => namesOf(value[list]).map((name) => `${kindOf[list]} ${name}`)),
    })),
  )
  const places = new Map<string, string>()
  const document: Record<string, unknown> = {}
  for (const { label, value } of read)
    for (const [member, given] of Object.entries(value)) {
      const before = document[member]
      const [found, added] = [before ?? [], given].map((each) => (Array.isArray(each) ? each : undefined))
      if (found !== undefined && added !== undefined) {
        for (const index of added.keys())
          places.set(`/${member}/${found.length + index}`, pointerIn(label, `/${member}/${index}`))
        document[member] = [...found, ...added]
      } else if (before === undefined) {
        places.set(`/${member}`, pointerIn(label, `/${member}`))
        document[member] = given
      }
    }
  return {
    document,
    placed: (draft) =>
      withPointers(draft, (at) => {
        const [, whole = '', rest = ''] = /^(\/[^/]*(?:\/\d+)?)(.*)$/.exec(at) ?? []
        const place = places.get(whole)
        return place === undefined ? at : `${place}${rest}`
      }),
  }
}

const kindOf = { models: 'The model', semantic_models: 'The semantic model', metrics: 'The metric' } as const

function namesOf(list: unknown): readonly string[] {
  return Array.isArray(list)
    ? list.flatMap((one) => (isPlain(one) && typeof one.name === 'string' ? [one.name] : []))
    : []
}

function isManifest(value: Plain): boolean {
  const models = Array.isArray(value.semantic_models) ? value.semantic_models : []
  return models.some((one) => isPlain(one) && isPlain(one.node_relation))
}

/** Members that dbt computes from others, or that say nothing of what is computed. */
const computed = new Set(['metadata', 'config', 'input_measures', 'primary_entity'])

function filesOf(value: Plain): Plain {
  const models = Array.isArray(value.semantic_models) ? value.semantic_models : []
  const { project_configuration: _, saved_queries: queries, ...others } = value
  const hasQueries = Array.isArray(queries) && queries.length > 0
  return {
    ...(plainForm(others) as Plain),
    ...(hasQueries && { saved_queries: queries }),
    semantic_models: models.map((model) => {
      const written = plainForm(model)
      if (!isPlain(written) || !isPlain(written.node_relation)) return written
      const { node_relation: relation, ...rest } = written
      return { ...rest, model: `ref('${String(relation.alias ?? rest.name)}')`, schema: relation.schema_name }
    }),
  }
}

/** A value without NULL and empty lists, and with filters as texts. */
function plainForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainForm)
  if (!isPlain(value)) return value
  if (typeof value.where_sql_template === 'string') return value.where_sql_template
  if (Array.isArray(value.where_filters)) return value.where_filters.map(plainForm)
  const members = Object.entries(value).filter(([name, member]) => {
    const isEmpty = member === null || (Array.isArray(member) && member.length === 0)
    return !isEmpty && !computed.has(name) && !(name === 'join_to_timespine' && member === false)
  })
  return Object.fromEntries(members.map(([name, member]) => [name, plainForm(member)]))
}
