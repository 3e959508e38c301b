/**
 * DISCOVER_XML_METADATA: the model as one document in the definition language of Analysis Services. It holds what the
 * other rowsets show the principal, and nothing of rows.
 */

import { Fault } from '../../../base/fault.ts'
import type { Cube, CubeDimension, Hierarchy, Measure } from '../../../semantics/cube/model.ts'
import type { Restrictions } from '../../../wire/soap/read-request.ts'
import { escapeXml } from '../../../wire/soap/xml.ts'
import { groupOf, updateTime } from './cube-rowsets.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const engineNamespace = 'http://schemas.microsoft.com/analysisservices/2003/engine'
const expansions = ['ReferenceOnly', 'ObjectProperties', 'ExpandObject', 'ExpandFull'] as const
type Expansion = (typeof expansions)[number]

/** An object of the model: what names it, its own properties, and collections of others. */
interface ModelObject {
  readonly element: string
  readonly id: string
  readonly name: string
  readonly properties: readonly string[]
  /** Parts that are no objects of their own, such as the attributes of a dimension. */
  readonly parts: readonly string[]
  readonly collections: Readonly<Record<string, readonly ModelObject[]>>
}

const tag = (name: string, text: string) => `<${name}>${escapeXml(text)}</${name}>`
const within = (name: string, parts: readonly string[]) =>
  parts.length === 0 ? '' : `<${name}>${parts.join('')}</${name}>`
const timeOf = (cube: Cube) => updateTime(cube).toISOString().slice(0, 19)

function write(object: ModelObject, expansion: Expansion, attributes = ''): string {
  const { element, id, name, properties, parts, collections } = object
  const reference = tag('Name', name) + tag('ID', id)
  const own = expansion === 'ReferenceOnly' ? '' : properties.join('')
  const more = expansion === 'ExpandObject' || expansion === 'ExpandFull' ? parts.join('') : ''
  // Objects within are named alone, unless all of them are asked for.
  const inner = expansion === 'ExpandFull' ? 'ExpandFull' : 'ReferenceOnly'
  const held =
    expansion === 'ExpandFull' || expansion === 'ExpandObject'
      ? Object.entries(collections).map(([title, objects]) =>
          within(
            title,
            objects.map((each) => write(each, inner)),
          ),
        )
      : []
  return `<${element}${attributes}>${reference}${own}${more}${held.join('')}</${element}>`
}

const dimensionId = (cube: Cube, { name }: CubeDimension) => `${cube.name}.${name}`

function measureObject({ name, caption, description, format, isSum }: Measure): ModelObject {
  return {
    ...{ element: 'Measure', id: name, name: caption, parts: [], collections: {} },
    properties: [
      tag('Description', description),
      tag('AggregateFunction', isSum ? 'Sum' : 'None'),
      tag('FormatString', format),
    ],
  }
}

function hierarchyPart({ name, caption, levels }: Hierarchy): string {
  const inner = levels
    .filter(({ kind }) => kind === 'key')
    .map((level) => `<Level>${tag('Name', level.caption)}${tag('ID', level.name)}</Level>`)
  return `<Hierarchy>${tag('Name', caption)}${tag('ID', name)}${within('Levels', inner)}</Hierarchy>`
}

function dimensionObject(cube: Cube, dimension: CubeDimension): ModelObject {
  const { hierarchies, caption } = dimension
  const attributes = hierarchies
    .filter(({ kind }) => kind === 'attribute')
    .map(({ name, caption }) => `<Attribute>${tag('Name', caption)}${tag('ID', name)}</Attribute>`)
  const calendars = hierarchies.filter(({ kind }) => kind === 'calendar').map(hierarchyPart)
  return {
    ...{ element: 'Dimension', id: dimensionId(cube, dimension), name: caption },
    properties: [tag('LastSchemaUpdate', timeOf(cube))],
    parts: [within('Attributes', attributes), within('Hierarchies', calendars)],
    collections: {},
  }
}

function cubeObject(cube: Cube): ModelObject {
  const group: ModelObject = {
    ...{ element: 'MeasureGroup', id: groupOf(cube), name: groupOf(cube), properties: [], parts: [] },
    collections: { Measures: cube.measures.map(measureObject) },
  }
  const used = cube.dimensions.map(
    (dimension) =>
      `<Dimension>${tag('Name', dimension.caption)}${tag('ID', dimension.name)}${tag('DimensionID', dimensionId(cube, dimension))}</Dimension>`,
  )
  return {
    ...{ element: 'Cube', id: cube.name, name: cube.caption },
    properties: [tag('LastSchemaUpdate', timeOf(cube)), tag('Description', cube.description)],
    parts: [within('Dimensions', used)],
    collections: { MeasureGroups: [group] },
  }
}

function databaseObject(catalog: string, cubes: readonly Cube[]): ModelObject {
  return {
    ...{ element: 'Database', id: catalog, name: catalog, properties: [], parts: [] },
    collections: {
      Dimensions: cubes.flatMap((cube) => cube.dimensions.map((each) => dimensionObject(cube, each))),
      Cubes: cubes.map(cubeObject),
    },
  }
}

function serverObject(database: ModelObject): ModelObject {
  return {
    ...{ element: 'Server', id: 'Covenant', name: 'Covenant', properties: [], parts: [] },
    collections: { Databases: [database] },
  }
}

const path = [
  ['DatabaseID', 'Databases'],
  ['CubeID', 'Cubes'],
  ['MeasureGroupID', 'MeasureGroups'],
] as const

/** The object that is asked for. @throws Fault `not_found` for one that is not there or may not be seen */
function objectOf(server: ModelObject, catalog: string, given: Restrictions): ModelObject {
  const only = (name: string) => given.get(name)?.[0]
  const [dimension, cube, group] = ['DimensionID', 'CubeID', 'MeasureGroupID'].map(only)
  const other = [...given.keys()].some(
    (name) => !['DatabaseID', 'CubeID', 'MeasureGroupID', 'DimensionID', 'ObjectExpansion'].includes(name),
  )
  if (other || (dimension !== undefined && (cube ?? group) !== undefined)) throw unknown()
  const steps: (readonly [title: string, id: string])[] = path.flatMap(([name, title]) => {
    // An object of a catalog is one of the connection's where none is named.
    const id =
      only(name) ?? (title === 'Databases' && (dimension ?? cube) !== undefined ? catalog : undefined)
    return id === undefined ? [] : [[title, id] as const]
  })
  if (dimension !== undefined) steps.push(['Dimensions', dimension])
  return steps.reduce<ModelObject>((object, [title, id]) => {
    const found = object.collections[title]?.find((each) => each.id === id)
    if (found === undefined) throw unknown()
    return found
  }, server)
}

function unknown(): Fault {
  return new Fault('not_found', 'There is no such object.')
}

async function rows({ catalog, cubes }: DiscoverContext, given: Restrictions): Promise<readonly Row[]> {
  const wanted = given.get('ObjectExpansion')?.[0] ?? 'ExpandFull'
  const expansion = expansions.find((each) => each === wanted)
  if (expansion === undefined) throw new Fault('bad_request', 'The ObjectExpansion is not known.')
  const server = serverObject(databaseObject(catalog, await cubes()))
  return [{ METADATA: write(objectOf(server, catalog, given), expansion, ` xmlns="${engineNamespace}"`) }]
}

export const xmlMetadataRowset: Rowset = {
  name: 'DISCOVER_XML_METADATA',
  guid: '3444b255-171e-4cb9-ad98-19e57888a75f',
  columns: columnsOf('METADATA:x'),
  restrictions: restrictionsOf(
    [
      ...'DatabaseID DimensionID CubeID MeasureGroupID PartitionID PerspectiveID'.split(' '),
      ...'DimensionPermissionID RoleID DatabasePermissionID MiningModelID MiningModelPermissionID'.split(' '),
      ...'DataSourceID MiningStructureID AggregationDesignID TraceID MiningStructurePermissionID'.split(' '),
      ...'CubePermissionID AssemblyID MdxScriptID DataSourceViewID DataSourcePermissionID'.split(' '),
      'ObjectExpansion',
    ]
      .map((name) => `${name}:s:own`)
      .join(' '),
  ),
  rows,
}
