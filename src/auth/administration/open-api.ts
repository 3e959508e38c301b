/** What the OpenAPI document says of administration. */

import {
  answer,
  anyObject,
  body,
  count,
  error,
  flag,
  list,
  type Operation,
  object,
  oneOf,
  page,
  pages,
  query,
  said,
  text,
  time,
  uuid,
} from '../../base/json-schema.ts'
import { catalogKinds } from '../../core/catalog-kinds.ts'
import { sessionScopes } from '../../core/session.ts'
import { commercialCapabilities } from '../../license/capabilities.ts'

const scopes = list(oneOf(sessionScopes))
const principal = object({ sub: text, 'email?': text, roles: list(text) })

const tenant = object({
  id: uuid,
  'organizationId?': said(text, 'of the identity provider'),
  name: text,
  state: oneOf(['active', 'suspended']),
  createdAt: time,
})
const newTenant = object({ name: { ...text, maxLength: 255 }, 'organization_id?': said(text, '`org_…`') })

const catalog = object({
  id: uuid,
  version: count,
  kind: oneOf(catalogKinds),
  nickname: text,
  endpoint: text,
  config: said(anyObject, 'without what is secret'),
})
const config = said(anyObject, 'of the adapter and the read engine; secrets are sealed, and never shown')
const newCatalog = object({ kind: oneOf(catalogKinds), endpoint: text, config })
const configChanges = object({ config: said(anyObject, 'fields to set; null removes one') })

const session = object({
  id: uuid,
  'name?': said(text, 'of a service session'),
  principal,
  scopes,
  createdAt: time,
  'seenAt?': said(time, 'of a browser session'),
  'expiresAt?': time,
  'revokedAt?': time,
})
const newSession = object({
  name: { ...text, maxLength: 255 },
  'sub?': said(text, 'the subject; the name where it is absent'),
  'email?': text,
  'roles?': list(text),
  scopes,
  'expires_at?': said(time, 'in the future; never where it is absent'),
})
const minted = answer('Made', object({ id: uuid, secret: said(text, 'shown this once') }))
const kind = query('kind', { ...oneOf(['service', 'browser']), default: 'service' })
const listedSessions = {
  parameters: [kind, ...pages],
  responses: { 200: answer('One page', page(session)), 400: error('A parameter is not as it must be') },
}
const mint = {
  requestBody: body(newSession),
  responses: {
    201: minted,
    400: error('The body is not as it must be'),
    413: error('The body is too large'),
  },
}
const ended = { 204: { description: 'Ended' }, 404: error('There is no such session in force') }

const license = object({
  state: oneOf(['none', 'valid', 'grace', 'expired']),
  'id?': text,
  'licensee?': text,
  'capabilities?': list(oneOf(commercialCapabilities)),
  'tenantsMax?': count,
  'issuedAtMs?': count,
  'expiresAtMs?': count,
  'graceMs?': count,
  'development?': flag,
})

type Told = Omit<Operation, 'tags'>
const unavailable = { 503: error('The database is not available') }

/** Under /admin, everyone but the internal admin organization is refused alike. */
const admin = ({ responses, ...told }: Told): Operation => ({
  tags: ['administration'],
  ...told,
  responses: { ...responses, 403: error('Not a session of the internal admin organization'), ...unavailable },
})
const ofTenant = (told: Told): Operation =>
  admin({ ...told, responses: { ...told.responses, 404: error('There is nothing of that name') } })
const own = ({ responses, ...told }: Told): Operation => ({
  tags: ['sessions'],
  ...told,
  responses: {
    ...responses,
    401: error('No session'),
    403: error('The session lacks the scope, or its principal the role `administrator`'),
    ...unavailable,
  },
})

const oneTenant = { 200: answer('The tenant', tenant) }
const malformed = error('A parameter or the body is not as it must be')
const tooLarge = error('The body is too large')

export const tenantsDetail = admin({
  summary: 'The tenants',
  parameters: pages,
  responses: { 200: answer('One page', page(tenant)), 400: malformed },
})
export const newTenantDetail = admin({
  summary: 'Makes a tenant with its own schema and graph, where the installed license has room for it',
  requestBody: body(newTenant),
  responses: {
    201: answer('Made', tenant),
    400: malformed,
    409: error('Another tenant has the organization'),
    413: tooLarge,
  },
})
export const tenantDetail = ofTenant({ summary: 'A tenant', responses: oneTenant })
export const suspendDetail = ofTenant({
  summary: 'Refuses every session of the tenant from the next request on',
  responses: oneTenant,
})
export const resumeDetail = ofTenant({ summary: 'Ends a suspension', responses: oneTenant })
export const catalogsDetail = ofTenant({
  summary: 'A tenant’s catalog credentials, without secrets',
  parameters: pages,
  responses: { 200: answer('One page', page(catalog)), 400: malformed },
})
export const putCatalogDetail = ofTenant({
  summary: 'Registers a catalog under a {prefix}, or replaces it, secrets and all',
  requestBody: body(newCatalog),
  responses: {
    200: answer('Saved', object({ id: uuid, version: count })),
    400: malformed,
    413: tooLarge,
    422: error('The kind has no live adapter'),
  },
})
export const changeCatalogDetail = ofTenant({
  summary: 'Changes fields of a catalog’s configuration, as when a secret is rotated',
  requestBody: body(configChanges),
  responses: { 200: answer('Saved', object({ version: count })), 400: malformed, 413: tooLarge },
})
export const removeCatalogDetail = ofTenant({
  summary: 'Removes a catalog; its {prefix} is 404 from then on',
  responses: { 204: { description: 'Removed' }, 400: malformed },
})
export const sessionsDetail = ofTenant({ summary: 'A tenant’s sessions, without secrets', ...listedSessions })
export const mintDetail = ofTenant({ summary: 'Makes a service session of a tenant', ...mint })
export const endDetail = ofTenant({
  summary: 'Ends a session, with effect on the next request',
  responses: ended,
})
export const licenseDetail = admin({
  summary: 'What is licensed',
  responses: { 200: answer('The installed license', license) },
})

export const ownSessionDetail = own({
  summary: 'Who one is: the session of the request and its verified principal',
  responses: {
    200: answer(
      'The session',
      object({ sessionId: uuid, tenant: uuid, 'organizationId?': text, scopes, principal }),
    ),
  },
})
export const ownSessionsDetail = own({
  summary: 'The own tenant’s sessions, without secrets',
  ...listedSessions,
})
export const ownMintDetail = own({ summary: 'Makes a service session of the own tenant', ...mint })
export const ownEndDetail = own({
  summary: 'Ends a session of the own tenant, with effect on the next request',
  responses: ended,
})
