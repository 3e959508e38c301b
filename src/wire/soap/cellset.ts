/**
 * Writes a cellset as an mddataset: its schema, what is declared of hierarchies and cells, the axes and the cells. Members
 * have exactly the properties that were declared, in that order, because clients crash on others. It is written in pieces,
 * so that a large one is never one text.
 */

import type { CellsetAxis, CellsetCell, CellsetMember } from '../../core/cellset.ts'
import { analysisNamespace, rootNamespaces } from './write-envelope.ts'
import { encodeXmlName, escapeXml } from './xml.ts'

export interface Dataset {
  readonly cubeName: string
  /** Undefined where it is not told. */
  readonly dataUpdatedAt: Date | undefined
  readonly schemaUpdatedAt: Date
  readonly axes: readonly CellsetAxis[]
  readonly slicer: CellsetAxis
  /** In upper case. */
  readonly cellProperties: readonly string[]
  readonly cells: readonly CellsetCell[]
}

const datasetNamespace = `${analysisNamespace}:mddataset`
const engineNamespace = 'http://schemas.microsoft.com/analysisservices/2003/engine'

/** The pieces of a root. @param content which parts the client asked for */
export function* writeDataset(
  dataset: Dataset,
  content: 'SchemaData' | 'Schema' | 'Data' | 'None',
): Generator<string> {
  yield `<root xmlns="${datasetNamespace}" ${rootNamespaces}>`
  if (content === 'SchemaData' || content === 'Schema') yield schema
  if (content === 'SchemaData' || content === 'Data') {
    yield writeInfo(dataset)
    yield '<Axes>'
    for (const [index, axis] of dataset.axes.entries()) yield* writeAxis(`Axis${index}`, axis)
    yield* writeAxis('SlicerAxis', dataset.slicer)
    yield '</Axes><CellData>'
    const properties = new Set(dataset.cellProperties)
    for (const cell of dataset.cells) yield writeCell(cell, properties)
    yield '</CellData>'
  }
  yield '</root>'
}

/** Elements of the five properties that every member has, with what MDX calls them. */
const standard = [
  ['UName', 'MEMBER_UNIQUE_NAME', 'xsd:string'],
  ['Caption', 'MEMBER_CAPTION', 'xsd:string'],
  ['LName', 'LEVEL_UNIQUE_NAME', 'xsd:string'],
  ['LNum', 'LEVEL_NUMBER', 'xsd:int'],
  ['DisplayInfo', 'DISPLAY_INFO', 'xsd:unsignedInt'],
] as const

/** Elements of the properties of cells that this service has values for. */
const cellElements: Readonly<Record<string, readonly [element: string, type: string]>> = {
  VALUE: ['Value', ''],
  FORMATTED_VALUE: ['FmtValue', 'xsd:string'],
  FORMAT_STRING: ['FormatString', 'xsd:string'],
  CELL_ORDINAL: ['CellOrdinal', 'xsd:unsignedInt'],
}

function writeInfo({
  cubeName,
  dataUpdatedAt,
  schemaUpdatedAt,
  axes,
  slicer,
  cellProperties,
}: Dataset): string {
  const update = (name: string, at: Date | undefined) =>
    at === undefined ? '' : `<${name} xmlns="${engineNamespace}">${at.toISOString().slice(0, 19)}</${name}>`
  const cube = `<Cube><CubeName>${escapeXml(cubeName)}</CubeName>${update('LastDataUpdate', dataUpdatedAt)}${update('LastSchemaUpdate', schemaUpdatedAt)}</Cube>`
  const infos = [...axes.map((axis, index) => axisInfo(`Axis${index}`, axis)), axisInfo('SlicerAxis', slicer)]
  const cells = cellProperties.map((name) => {
    const [element, type] = cellElements[name] ?? [undefined, '']
    if (element === undefined) return ''
    return `<${element} name="${name}"${type === '' ? '' : ` type="${type}"`}/>`
  })
  return `<OlapInfo><CubeInfo>${cube}</CubeInfo><AxesInfo>${infos.join('')}</AxesInfo><CellInfo>${cells.join('')}</CellInfo></OlapInfo>`
}

function axisInfo(name: string, { hierarchies }: CellsetAxis): string {
  const infos = hierarchies.map(({ uniqueName, properties }) => {
    const declared = standard.map(([element, property, type]) => declare(uniqueName, element, property, type))
    const more = properties.map((property) => declare(uniqueName, encodeXmlName(property), property, ''))
    return `<HierarchyInfo name="${escapeXml(uniqueName)}">${[...declared, ...more].join('')}</HierarchyInfo>`
  })
  return `<AxisInfo name="${name}">${infos.join('')}</AxisInfo>`
}

function declare(hierarchy: string, element: string, property: string, type: string): string {
  return `<${element} name="${escapeXml(`${hierarchy}.[${property}]`)}"${type === '' ? '' : ` type="${type}"`}/>`
}

function* writeAxis(name: string, { hierarchies, tuples }: CellsetAxis): Generator<string> {
  yield `<Axis name="${name}"><Tuples>`
  for (const tuple of tuples) {
    if (tuple.length !== hierarchies.length) throw new Error('a tuple has another form than its axis')
    const members = tuple.map((member, index) => writeMember(member, hierarchies[index]?.properties ?? []))
    yield `<Tuple>${members.join('')}</Tuple>`
  }
  yield '</Tuples></Axis>'
}

function writeMember(member: CellsetMember, names: readonly string[]): string {
  const { hierarchy, uniqueName, caption, levelUniqueName, levelNumber, displayInfo, properties } = member
  const five = `<UName>${escapeXml(uniqueName)}</UName><Caption>${escapeXml(caption)}</Caption><LName>${escapeXml(levelUniqueName)}</LName><LNum>${levelNumber}</LNum><DisplayInfo>${displayInfo}</DisplayInfo>`
  const more = names.map((name, index) => {
    // A property that is declared is always there: clients stop at a member that lacks one.
    const value = properties[index] ?? ''
    return `<${encodeXmlName(name)}>${escapeXml(String(value))}</${encodeXmlName(name)}>`
  })
  return `<Member Hierarchy="${escapeXml(hierarchy)}">${five}${more.join('')}</Member>`
}

function writeCell(
  { ordinal, type, value, formatted, format }: CellsetCell,
  asked: ReadonlySet<string>,
): string {
  const parts = [
    asked.has('VALUE') ? `<Value xsi:type="xsd:${type}">${escapeXml(valueText(value))}</Value>` : '',
    asked.has('FORMATTED_VALUE') ? `<FmtValue>${escapeXml(formatted)}</FmtValue>` : '',
    asked.has('FORMAT_STRING') && format !== '' ? `<FormatString>${escapeXml(format)}</FormatString>` : '',
  ]
  return `<Cell CellOrdinal="${ordinal}">${parts.join('')}</Cell>`
}

/** A number as XML Schema writes it. */
function valueText(value: number | bigint | string | boolean): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

const any = '<xsd:any processContents="lax" maxOccurs="unbounded"/>'
const text = (name: string) => `<xsd:element name="${name}" type="xsd:string"/>`
const complex = (name: string, inner: string) => `<xsd:complexType name="${name}">${inner}</xsd:complexType>`
const sequence = (inner: string) => `<xsd:sequence>${inner}</xsd:sequence>`
const many = (name: string, type: string) =>
  `<xsd:element name="${name}" type="${type}" minOccurs="0" maxOccurs="unbounded"/>`
const nameAttribute = '<xsd:attribute name="name" type="xsd:string"/>'

/** The same for every answer: what a member or a cell holds is declared by OlapInfo. */
const schema = `<xsd:schema targetNamespace="${datasetNamespace}" xmlns="${datasetNamespace}" xmlns:sql="urn:schemas-microsoft-com:xml-sql" elementFormDefault="qualified">${[
  complex('MemberType', `${sequence(any)}<xsd:attribute name="Hierarchy" type="xsd:string"/>`),
  complex('PropType', `${nameAttribute}<xsd:attribute name="type" type="xsd:QName"/>`),
  complex('TupleType', sequence(many('Member', 'MemberType'))),
  complex('TuplesType', sequence(many('Tuple', 'TupleType'))),
  complex('Axis', `${sequence('<xsd:element name="Tuples" type="TuplesType"/>')}${nameAttribute}`),
  complex('Axes', sequence(many('Axis', 'Axis'))),
  complex('HierarchyInfo', `${sequence(any)}${nameAttribute}`),
  complex('AxisInfo', `${sequence(many('HierarchyInfo', 'HierarchyInfo'))}${nameAttribute}`),
  complex('AxesInfo', sequence(many('AxisInfo', 'AxisInfo'))),
  complex('CubeType', sequence(text('CubeName') + any)),
  complex('CubeInfo', sequence(many('Cube', 'CubeType'))),
  complex('CellInfo', sequence(any)),
  complex(
    'OlapInfo',
    sequence(
      '<xsd:element name="CubeInfo" type="CubeInfo"/><xsd:element name="AxesInfo" type="AxesInfo"/><xsd:element name="CellInfo" type="CellInfo"/>',
    ),
  ),
  complex('CellType', `${sequence(any)}<xsd:attribute name="CellOrdinal" type="xsd:unsignedInt"/>`),
  complex('CellData', sequence(many('Cell', 'CellType'))),
  `<xsd:element name="root"><xsd:complexType>${sequence('<xsd:element name="OlapInfo" type="OlapInfo"/><xsd:element name="Axes" type="Axes"/><xsd:element name="CellData" type="CellData"/>')}</xsd:complexType></xsd:element>`,
].join('')}</xsd:schema>`
