/** All rowsets by name, and the one that lists them. */

import { Fault } from '../../../base/fault.ts'
import { calculationRowsets } from './calculation-rowsets.ts'
import { csdlRowset } from './csdl.ts'
import { cubeRowsets } from './cube-rowsets.ts'
import { functionsRowset } from './functions.ts'
import { memberPropertiesRowset } from './member-properties.ts'
import { membersRowset } from './members.ts'
import { propertiesRowset } from './properties.ts'
import { columnsOf, type Row, type Rowset, restrictionsOf } from './rowset.ts'
import { serverRowsets } from './server-rowsets.ts'
import { tabularRowsets } from './tabular-rowsets.ts'
import { workRowsets } from './work-rowsets.ts'
import { xmlMetadataRowset } from './xml-metadata.ts'

const schemaRowsets: Rowset = {
  name: 'DISCOVER_SCHEMA_ROWSETS',
  guid: 'eea0302b-7922-4992-8991-0e605d0e5593',
  columns: [
    ...columnsOf('SchemaName:s SchemaGuid:g?'),
    { name: 'Restrictions', type: 'string', optional: true, nested: columnsOf('Name:s? Type:s?') },
    ...columnsOf('Description:s? RestrictionsMask:l?'),
  ],
  restrictions: restrictionsOf('SchemaName:s'),
  rows: () => rowsets.map(rowOf),
}

function rowOf({ name, guid, restrictions }: Rowset): Row {
  return {
    SchemaName: name,
    SchemaGuid: guid,
    Restrictions: restrictions.map((each) => [each.name, `xsd:${each.type}`]),
    Description: '',
    RestrictionsMask: 2n ** BigInt(restrictions.length) - 1n,
  }
}

const rowsets: readonly Rowset[] = [
  ...cubeRowsets,
  ...calculationRowsets,
  ...serverRowsets,
  ...workRowsets,
  ...tabularRowsets,
  csdlRowset,
  functionsRowset,
  xmlMetadataRowset,
  membersRowset,
  memberPropertiesRowset,
  propertiesRowset,
  schemaRowsets,
].sort((one, other) => (one.name < other.name ? -1 : 1))

const byName = new Map(rowsets.map((rowset) => [rowset.name, rowset]))

/** The names of all rowsets. */
export const rowsetNames: readonly string[] = [...byName.keys()]

/** The rowset of a name. @throws Fault `bad_request` for an unknown one */
export function rowsetOf(name: string): Rowset {
  const found = byName.get(name.toUpperCase())
  if (found === undefined)
    throw new Fault('bad_request', `The rowset \`${name.slice(0, 100)}\` is not served here.`)
  return found
}
