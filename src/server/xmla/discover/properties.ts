/** DISCOVER_PROPERTIES: the properties that clients ask for by name before they trust a server. */

import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

/** Clients show features by the version. It is one that they know, and not the service's own. */
const providerVersion = '16.0.1000.0'

interface Property {
  readonly name: string
  readonly type: 'string' | 'int' | 'unsignedInt' | 'boolean'
  readonly access: 'Read' | 'ReadWrite' | 'Write'
  readonly value: (context: DiscoverContext) => string
}

const fixed = (value: string) => () => value

function read(name: string, value: string, type: Property['type'] = 'string'): Property {
  return { name, type, access: 'Read', value: fixed(value) }
}

function settable(name: string, value: string, type: Property['type'] = 'string'): Property {
  return { name, type, access: 'ReadWrite', value: fixed(value) }
}

const properties: readonly Property[] = [
  settable('ApplicationContext', ''),
  settable('AxisFormat', 'TupleFormat'),
  settable('BeginRange', '-1', 'int'),
  { name: 'Catalog', type: 'string', access: 'ReadWrite', value: ({ catalog }) => catalog },
  settable('ClientProcessID', '0', 'unsignedInt'),
  settable('Content', 'SchemaData'),
  settable('Cube', ''),
  settable('DataSourceInfo', ''),
  settable('DbpropMsmdActivityID', ''),
  settable('DbpropMsmdCurrentActivityID', ''),
  settable('DbpropMsmdFlattened2', 'false', 'boolean'),
  settable('DbpropMsmdMDXCompatibility', '1', 'int'),
  settable('DbpropMsmdOptimizeResponse', '1', 'int'),
  settable('DbpropMsmdRequestID', ''),
  settable('DbpropMsmdSubqueries', '2', 'int'),
  read('DBMSVersion', providerVersion),
  settable('EndRange', '-1', 'int'),
  settable('Format', 'Native'),
  settable('LocaleIdentifier', '1033', 'unsignedInt'),
  read('MaximumRows', '0', 'unsignedInt'),
  read('MdpropAggregateCellUpdate', '0', 'int'),
  read('MdpropFlatteningSupport', '1', 'int'),
  read('MdpropMdxCaseSupport', '0', 'int'),
  read('MdpropMdxDdlExtensions', '3', 'int'),
  read('MdpropMdxDescFlags', '127', 'int'),
  read('MdpropMdxDrillFunctions', '7', 'int'),
  read('MdpropMdxFormulas', '63', 'int'),
  read('MdpropMdxJoinCubes', '1', 'int'),
  read('MdpropMdxMemberFunctions', '15', 'int'),
  settable('MdxMissingMemberMode', 'Error'),
  read('MdpropMdxNamedSets', '15', 'int'),
  read('MdpropMdxNonMeasureExpressions', '0', 'int'),
  read('MdpropMdxNumericFunctions', '2047', 'int'),
  read('MdpropMdxObjQualification', '496', 'int'),
  read('MdpropMdxOuterReference', '0', 'int'),
  read('MdpropMdxQueryByProperty', '0', 'int'),
  read('MdpropMdxRangeRowset', '0', 'int'),
  read('MdpropMdxSetFunctions', '524287', 'int'),
  read('MdpropMdxSlicer', '2', 'int'),
  read('MdpropMdxStringCompop', '0', 'int'),
  read('MdpropMdxSubqueries', '2', 'int'),
  read('MdpropNamedLevels', '3', 'int'),
  read('ProviderName', 'Covenant'),
  // A multidimensional model: for a tabular one clients write DAX.
  read('ProviderType', 'MDP'),
  read('ProviderVersion', providerVersion),
  settable('SafetyOptions', '2', 'int'),
  { name: 'ServerName', type: 'string', access: 'Read', value: fixed('Covenant') },
  settable('ShowHiddenCubes', 'false', 'boolean'),
  settable('SspropInitAppName', ''),
  settable('SspropInitSid', ''),
  read('StateSupport', 'Sessions'),
  settable('Timeout', '0', 'unsignedInt'),
  settable('VisualMode', '0', 'int'),
]

function rows(context: DiscoverContext): readonly Row[] {
  return properties.map(({ name, type, access, value }) => ({
    PropertyName: name,
    PropertyDescription: name,
    PropertyType: `xsd:${type}`,
    PropertyAccessType: access,
    IsRequired: false,
    Value: value(context),
  }))
}

export const propertiesRowset: Rowset = {
  name: 'DISCOVER_PROPERTIES',
  guid: '4b40adfb-8b09-4758-97bb-636e8ae97bcf',
  columns: columnsOf(
    'PropertyName:s PropertyDescription:s? PropertyType:s? PropertyAccessType:s IsRequired:b? Value:s?',
  ),
  restrictions: restrictionsOf('PropertyName:s'),
  rows,
}
