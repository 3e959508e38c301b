/**
 * DISCOVER_CSDL_METADATA: the tabular face of one cube as an entity model, with which reports of Power BI begin. It holds
 * what the principal may see, and says which parts of DAX are served.
 */

import { Fault } from '../../../base/fault.ts'
import type { Cube } from '../../../semantics/cube/model.ts'
import { type TabularKpi, tabularKpis } from '../../../semantics/dax/kpis.ts'
import { isSame, type TabularModel, tabularOf, wholeModel } from '../../../semantics/dax/tabular.ts'
import { type DaxType, daxTypeOf } from '../../../semantics/dax/values.ts'
import type { Restrictions } from '../../../wire/soap/read-request.ts'
import { escapeXml } from '../../../wire/soap/xml.ts'
import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const entities = 'http://schemas.microsoft.com/ado/2008/09/edm'
const extensions = 'http://schemas.microsoft.com/sqlbi/2010/10/edm/extensions'
const container = 'Model'
/** [MS-CSDLBI]. Later ones differ in what models here do not have. */
const versions = ['1.0', '1.1', '2.0', '2.5']
/** A KPI is of 1.1 and later. */
const withoutKpis = '1.0'

const types: Readonly<Record<DaxType, string>> = {
  ...{ text: 'String', integer: 'Int64', number: 'Double', boolean: 'Boolean', date: 'DateTime' },
  variant: 'String',
}

/** Names of the entity model, which have letters, digits and `_` only, and no two the same. */
function entityNames(): (name: string) => string {
  const taken = new Set<string>()
  return (name) => {
    const plain = name.replace(/[^\p{L}\p{N}_]/gu, '_').replace(/^(?=\p{N})/u, '_')
    let found = plain
    for (let count = 2; taken.has(found.toLowerCase()); count++) found = `${plain}_${count}`
    taken.add(found.toLowerCase())
    return found
  }
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  ...parts: readonly string[]
) {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [` ${key}="${escapeXml(value)}"`],
  )
  const inner = parts.join('')
  return `<${name}${written.join('')}${inner === '' ? '/>' : `>${inner}</${name}>`}`
}

/** What is served, so that clients write no more. Elements that are absent are not. */
const capabilities = element(
  'bi:ModelCapabilities',
  {},
  element('bi:CrossFilteringWithinTable', {}, 'Always'),
  element('bi:GroupByValidation', {}, 'Relaxed'),
  element('bi:QueryAggregateUsage', {}, 'Discourage'),
  element('bi:QueryBatching', {}, '1'),
  element('bi:Variables', {}, '1'),
  element('bi:InOperator', {}, '1'),
  element('bi:TableConstructor', {}, '1'),
  element(
    'bi:DAXFunctions',
    {},
    ...[
      'SummarizeColumns',
      'SubstituteWithIndex',
      'LeftOuterJoin',
      'StringMinMax',
      'TreatAs',
      'NonVisual',
    ].map((name) => element(`bi:${name}`, {}, '1')),
    element('bi:IsAfter', {}, '1'),
  ),
)

type Table = TabularModel['tables'][number]

/** What is drawn where a KPI does not say it: the format asks for a picture. */
const graphicByDefault = 'Three Circles Colored'

/** A KPI of a measure; nothing without a goal and a status, which the format asks for. */
function kpiElement(
  { kpi: { statusGraphic }, parts: { goal, status } }: TabularKpi,
  nameOf: (measure: Table['measures'][number]) => string | undefined,
): string {
  if (goal === undefined || status === undefined) return ''
  const reference = (name: string, measure: typeof goal) =>
    element(name, {}, element('bi:PropertyRef', { Name: nameOf(measure) }))
  return element(
    'bi:Kpi',
    { StatusGraphic: statusGraphic === '' ? graphicByDefault : statusGraphic },
    reference('bi:KpiGoal', goal),
    reference('bi:KpiStatus', status),
  )
}

/** An entity type: columns, measures with their KPIs, and hierarchies of a table. */
function entityType(
  table: Table,
  entity: string,
  related: readonly string[],
  kpis: readonly TabularKpi[],
): string {
  const nameOf = entityNames()
  const key = nameOf('RowNumber')
  const names = new Map(table.columns.map((column) => [column, nameOf(column.name)]))
  const referenceOf = (name: string, written: string) => (name === written ? undefined : name)
  const columns = table.columns.map((column) => {
    const name = names.get(column) ?? ''
    return element(
      'Property',
      { Name: name, Type: types[column.type] },
      column.description &&
        element('Documentation', {}, element('Summary', {}, escapeXml(column.description))),
      element('bi:Property', {
        Caption: column.caption,
        ReferenceName: referenceOf(column.name, name),
        DefaultAggregateFunction: 'None',
        FormatString: column.type === 'date' ? 'yyyy-mm-dd' : undefined,
      }),
    )
  })
  const measureNames = new Map(table.measures.map((measure) => [measure, nameOf(measure.name)]))
  const measures = table.measures.map((measure) => {
    const { name, caption, type, format } = measure
    const written = measureNames.get(measure) ?? ''
    const kpi = kpis.find((each) => each.measure === measure)
    const description = kpi?.kpi.description || measure.description
    return element(
      'Property',
      { Name: written, Type: types[daxTypeOf(type)] },
      description && element('Documentation', {}, element('Summary', {}, escapeXml(description))),
      element(
        'bi:Measure',
        { Caption: caption, ReferenceName: referenceOf(name, written), FormatString: format },
        kpi === undefined ? '' : kpiElement(kpi, (each) => measureNames.get(each)),
      ),
    )
  })
  const hierarchies = table.hierarchies.map(({ name, caption, levels }) => {
    const written = nameOf(name)
    return element(
      'bi:Hierarchy',
      { Name: written, Caption: caption, ReferenceName: referenceOf(name, written) },
      ...levels.map(({ name: level, column }) =>
        element(
          'bi:Level',
          { Name: level, Caption: level },
          element('bi:Source', {}, element('bi:PropertyRef', { Name: names.get(column) })),
        ),
      ),
    )
  })
  const links = related.map((other) =>
    element(
      'NavigationProperty',
      {
        Name: nameOf(other),
        Relationship: `${container}.${entity}_${other}`,
        FromRole: entity,
        ToRole: other,
      },
      element('bi:NavigationProperty', {}),
    ),
  )
  return element(
    'EntityType',
    { Name: entity },
    element('Key', {}, element('PropertyRef', { Name: key })),
    element(
      'Property',
      { Name: key, Type: 'Int64', Nullable: 'false' },
      element('bi:Property', { Hidden: 'true', Contents: 'RowNumber', Stability: 'RowNumber' }),
    ),
    ...columns,
    ...measures,
    ...links,
    element('bi:EntityType', {}, ...hierarchies),
  )
}

function association(own: string, other: string): string {
  const end = (role: string, Multiplicity: string) =>
    element('End', { Role: role, Type: `${container}.${role}`, Multiplicity })
  return element('Association', { Name: `${own}_${other}` }, end(own, '*'), end(other, '0..1'))
}

function associationSet(own: string, other: string): string {
  const end = (role: string) => element('End', { Role: role, EntitySet: role })
  const name = `${own}_${other}`
  return element(
    'AssociationSet',
    { Name: name, Association: `${container}.${name}` },
    end(own),
    end(other),
    element('bi:AssociationSet', {}),
  )
}

/** The document of a model. */
function writeCsdl({ cube, tables }: TabularModel, version: string): string {
  const nameOf = entityNames()
  const kpis = version === withoutKpis ? [] : tabularKpis(cube)
  const placed = tables.map((table) => ({ table, entity: nameOf(table.name) }))
  const own = placed.find(({ table }) => table.measures.length > 0)?.entity ?? ''
  const related = placed.flatMap(({ entity }) => (entity === own ? [] : [entity]))
  const sets = placed.map(({ table, entity }) =>
    element(
      'EntitySet',
      { Name: entity, EntityType: `${container}.${entity}` },
      element('bi:EntitySet', {
        Caption: table.caption,
        ReferenceName: table.name === entity ? undefined : table.name,
      }),
    ),
  )
  return element(
    'Schema',
    {
      ...{ xmlns: entities, 'xmlns:bi': extensions, 'bi:Version': version, Namespace: container },
    },
    element(
      'EntityContainer',
      { Name: container },
      cube.description && element('Documentation', {}, element('Summary', {}, escapeXml(cube.description))),
      ...sets,
      ...related.map((other) => associationSet(own, other)),
      element(
        'bi:EntityContainer',
        { Caption: cube.caption, Culture: 'en-US' },
        element('bi:CompareOptions', {}),
        capabilities,
      ),
    ),
    ...placed.map(({ table, entity }) => entityType(table, entity, entity === own ? related : [], kpis)),
    ...related.map((other) => association(own, other)),
  )
}

/** The cube of a perspective. @throws Fault for one that is not there or may not be seen, and where none is named of several */
function cubeNamed(cubes: readonly Cube[], name: string | undefined): Cube {
  const isWhole = name === undefined || isSame(name, wholeModel)
  const found = cubes.filter((cube) => isWhole || isSame(cube.name, name))
  const [only, ...others] = found
  if (only === undefined) throw new Fault('not_found', 'There is no such perspective.')
  if (others.length > 0)
    throw new Fault('bad_request', 'The catalog has several cubes. Name one by PERSPECTIVE_NAME.')
  return only
}

async function rows({ cubes }: DiscoverContext, given: Restrictions): Promise<readonly Row[]> {
  const only = (name: string) => given.get(name)?.[0]
  const version = only('VERSION') ?? '2.5'
  if (!versions.includes(version)) throw new Fault('bad_request', 'The version of CSDLBI is not served.')
  const cube = cubeNamed(await cubes(), only('PERSPECTIVE_NAME'))
  return [{ METADATA: writeCsdl(tabularOf(cube), version) }]
}

export const csdlRowset: Rowset = {
  name: 'DISCOVER_CSDL_METADATA',
  guid: '87b86062-21c3-460f-b4f8-5be98394f13b',
  columns: columnsOf('METADATA:x'),
  restrictions: restrictionsOf('CATALOG_NAME:s:own PERSPECTIVE_NAME:s:own VERSION:s:own'),
  rows,
}
