/** Declares the operations that show the cubes of a catalog, as Excel and Power BI see them over XMLA. */

import { Fault } from '../base/fault.ts'
import { described, list, maybe, nonEmpty, object, oneOf, text } from '../http/schemas.ts'
import { hasCatalogCredential } from '../store/catalog-credential/catalog-credentials.ts'
import { buildCubes } from './cube/build-cubes.ts'
import type { Cube } from './cube/model.ts'
import { operation } from './parts.ts'

const reading = { scope: 'read', capability: 'xmla' } as const
const unique = described(text, 'its name in MDX')
const level = object({ name: text, unique_name: unique })
const cube = object({
  name: text,
  measures: list(object({ name: text, unique_name: unique, caption: text, format: maybe(text) })),
  hierarchies: list(
    object({
      name: text,
      unique_name: unique,
      dimension: text,
      caption: text,
      kind: oneOf(['attribute', 'calendar']),
      levels: list(level),
    }),
  ),
})

export const cubeOperations = [
  operation({
    name: 'list_cubes',
    tag: 'metrics',
    summary: 'The cubes of a catalog, with the measures and hierarchies that the caller may see',
    method: 'GET',
    path: '/api/v1/xmla/{catalog}/cubes',
    access: reading,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({ catalog: described(nonEmpty, 'nickname of a catalog credential') }),
    output: object({ items: list(cube) }),
    faults: { not_found: 'There is no such catalog.' },
    run: async ({ parts: { store, clock }, caller: { tenant, principal }, signal }, { catalog }) => {
      if (!(await hasCatalogCredential(store, tenant, catalog)))
        throw new Fault('not_found', 'There is no such catalog.')
      const cubes = await buildCubes({ store, clock, tenant, principal, catalog, signal })
      return { items: cubes.map(cubeView) }
    },
  }),
]

function cubeView({ name, measures, dimensions }: Cube) {
  return {
    name,
    measures: measures.map(({ uniqueName, format, ...measure }) => ({
      ...{ name: measure.name, unique_name: uniqueName, caption: measure.caption },
      ...(format !== '' && { format }),
    })),
    hierarchies: dimensions.flatMap(({ hierarchies }) =>
      hierarchies.map(({ uniqueName, dimension, levels, caption, kind, ...hierarchy }) => ({
        ...{ name: hierarchy.name, unique_name: uniqueName, dimension: dimension.name, caption, kind },
        levels: levels.map((each) => ({ name: each.name, unique_name: each.uniqueName })),
      })),
    ),
  }
}
