/** What SCIM is served (RFC 7644, 4): the configuration, the kinds of resources and their schemas. */

import { describeSchema, enterpriseSchema, groups, users } from '../../wire/scim/schemas.ts'
import { scimFault } from '../../wire/scim/scim-fault.ts'
import { pageMax, scimResponse } from './respond.ts'

const core = 'urn:ietf:params:scim:schemas:core:2.0'

/** `/ServiceProviderConfig`. */
export function serviceProviderConfig(root: string): Response {
  return scimResponse({
    schemas: [`${core}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The secret of a service session with the scope `scim` and the role `owner`.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${root}/ServiceProviderConfig` },
  })
}

const kinds = [
  { schema: users, endpoint: '/Users', extensions: [{ schema: enterpriseSchema, required: false }] },
  { schema: groups, endpoint: '/Groups', extensions: [] },
]

/** `/ResourceTypes`, or one of them. @throws Fault `not_found` */
export function resourceTypes(root: string, id?: string): Response {
  const items = kinds.map(({ schema, endpoint, extensions }) => ({
    schemas: [`${core}:ResourceType`],
    id: schema.name,
    name: schema.name,
    endpoint,
    schema: schema.urn,
    schemaExtensions: extensions,
    meta: { resourceType: 'ResourceType', location: `${root}/ResourceTypes/${schema.name}` },
  }))
  return oneOrAll(items, id)
}

/** `/Schemas`, or one of them. @throws Fault `not_found` */
export function schemas(root: string, id?: string): Response {
  const items = [
    describeSchema(users.urn, users.name, users.attributes),
    describeSchema(enterpriseSchema, 'EnterpriseUser', users.extensions[enterpriseSchema] ?? []),
    describeSchema(groups.urn, groups.name, groups.attributes),
  ].map((schema) => ({
    ...schema,
    meta: { resourceType: 'Schema', location: `${root}/Schemas/${schema.id}` },
  }))
  return oneOrAll(items, id)
}

function oneOrAll(items: readonly { readonly id: string }[], id: string | undefined): Response {
  if (id === undefined)
    return scimResponse({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: items.length,
      startIndex: 1,
      itemsPerPage: items.length,
      Resources: items,
    })
  const found = items.find((item) => item.id === id)
  if (found === undefined) throw scimFault(404, 'There is no such resource.')
  return scimResponse(found)
}
