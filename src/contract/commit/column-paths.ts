/** Names the column of each property of an object: its physical name, below the columns of the properties around it. */

import type { ModelProperty } from '../../wire/odcs/model.ts'

/** The path of each property's column, from the top-level column down, by dots. */
export function columnPaths(properties: readonly ModelProperty[]): ReadonlyMap<ModelProperty, string> {
  const paths = new Map<ModelProperty, string>()
  const byName = new Map<string, string>()
  // A property comes after the one that it is nested in.
  for (const property of properties) {
    const { name, physicalName } = property
    const dot = name.lastIndexOf('.')
    const around = dot < 0 ? undefined : byName.get(name.slice(0, dot))
    const own = physicalName ?? (around === undefined ? name : name.slice(dot + 1))
    const path = around === undefined ? own : `${around}.${own}`
    byName.set(name, path)
    paths.set(property, path)
  }
  return paths
}
