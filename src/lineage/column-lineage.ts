/** Reads the columnLineage facet of output datasets (OpenLineage ColumnLineageDatasetFacet) as pairs of columns. */

import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import type { ColumnDependency, ColumnTransformation, LineageDataset, PairColumns } from '../core/lineage.ts'

interface WithFacets {
  readonly dataset: LineageDataset
  readonly facets: JsonObject | undefined
}

/**
 * Column dependencies between the event's inputs and outputs. An input field of another dataset makes no edge
 * (docs/reference/lineage.md 4.2) and stays in the raw body only. Malformed entries are ignored.
 */
export function columnsOf(
  inputs: readonly WithFacets[],
  outputs: readonly WithFacets[],
): readonly PairColumns[] {
  const places = new Map(inputs.map(({ dataset }, index) => [keyOf(dataset.namespace, dataset.name), index]))
  return outputs.flatMap(({ facets }, output) => {
    const facet = facets?.get('columnLineage')
    if (!isJsonObject(facet)) return []
    const found = new Map<number, ColumnDependency[]>()
    const add = (column: string | null, field: JsonValue) => {
      const read = inputField(field, places)
      if (read === undefined) return
      const { place, input, transformations } = read
      const columns = found.get(place) ?? []
      columns.push({ input, output: column, transformations })
      found.set(place, columns)
    }
    for (const [column, lineage] of entriesOf(facet.get('fields')))
      if (isJsonObject(lineage)) for (const field of listOf(lineage.get('inputFields'))) add(column, field)
    for (const field of listOf(facet.get('dataset'))) add(null, field)
    return [...found].map(([input, columns]) => ({ input, output, columns }))
  })
}

function inputField(field: JsonValue, places: ReadonlyMap<string, number>) {
  if (!isJsonObject(field)) return undefined
  const [namespace, name, input] = ['namespace', 'name', 'field'].map((key) => field.get(key))
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof input !== 'string') return undefined
  const place = places.get(keyOf(namespace, name))
  if (place === undefined) return undefined
  const transformations = listOf(field.get('transformations')).flatMap(transformation)
  return { place, input, transformations }
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

const keyOf = (namespace: string, name: string) => `${namespace}\u001f${name}`

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function entriesOf(value: JsonValue | undefined): Iterable<readonly [string, JsonValue]> {
  return isJsonObject(value) ? value : []
}
