/** Reads the columnLineage facet of output datasets (OpenLineage ColumnLineageDatasetFacet) as pairs of columns. */

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type {
  ColumnDependency,
  ColumnTransformation,
  LineageDataset,
  LineageName,
  PairColumns,
} from '../core/lineage.ts'
import { canonicalName } from './dataset-levels.ts'
import { isStorableName } from './table-claims.ts'

interface WithFacets {
  readonly dataset: LineageDataset
  readonly facets: JsonObject | undefined
}

/**
 * Column dependencies of the event's outputs, by the dataset that each input field names: an input of the event, by any
 * of its names, or a dataset that another event of the run may read. Malformed entries are ignored.
 */
export function columnsOf(
  inputs: readonly WithFacets[],
  outputs: readonly WithFacets[],
): readonly PairColumns[] {
  // Its own name counts more than another's symlink.
  const names = new Map<string, LineageName>()
  for (const { dataset } of inputs) names.set(keyOf(dataset), dataset)
  for (const { dataset } of inputs)
    for (const alias of dataset.aliases) if (!names.has(keyOf(alias))) names.set(keyOf(alias), dataset)
  return outputs.flatMap(({ dataset: output, facets }) => {
    const facet = facets?.get('columnLineage')
    if (!isJsonObject(facet)) return []
    const found = new Map<string, { input: LineageName; columns: ColumnDependency[] }>()
    const add = (column: string | null, field: JsonValue) => {
      const read = inputField(field)
      if (read === undefined) return
      const { dataset, input, transformations } = read
      const canonical = canonicalName(dataset)
      // One that no input of the event names may be that of another event of the run.
      const named = names.get(keyOf(dataset)) ?? names.get(keyOf(canonical)) ?? canonical
      const pair = found.get(keyOf(named)) ?? { input: named, columns: [] }
      pair.columns.push({ input, output: column, transformations })
      found.set(keyOf(named), pair)
    }
    for (const [column, lineage] of entriesOf(facet.get('fields')))
      if (isJsonObject(lineage)) for (const field of listOf(lineage.get('inputFields'))) add(column, field)
    for (const field of listOf(facet.get('dataset'))) add(null, field)
    return [...found.values()].map(({ input, columns }) => ({ input, output, columns }))
  })
}

function inputField(field: JsonValue) {
  if (!isJsonObject(field)) return undefined
  const [namespace, name, input] = ['namespace', 'name', 'field'].map((key) => field.get(key))
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof input !== 'string') return undefined
  const dataset = { namespace, name }
  if (!isStorableName(dataset)) return undefined
  const transformations = listOf(field.get('transformations')).flatMap(transformation)
  return { dataset, input, transformations }
}

function transformation(value: JsonValue): readonly ColumnTransformation[] {
  if (!isJsonObject(value)) return []
  const text = (key: string) => {
    const member = value.get(key)
    return typeof member === 'string' ? { [key]: member } : {}
  }
  const masking = value.get('masking')
  return [
    {
      ...text('type'),
      ...text('subtype'),
      ...text('description'),
      ...(typeof masking === 'boolean' && { masking }),
    },
  ]
}

const keyOf = ({ namespace, name }: LineageName) => `${namespace}\u001f${name}`

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function entriesOf(value: JsonValue | undefined): Iterable<readonly [string, JsonValue]> {
  return isJsonObject(value) ? value : []
}
