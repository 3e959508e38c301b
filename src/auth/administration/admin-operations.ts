/**
 * Declares /admin (docs/reference/identity.md 3.1): tenants, their catalogs and sessions, and the license. Only the
 * internal admin organization may call it.
 */

import { Type } from '@sinclair/typebox'
import { commercialCapabilities } from '../../core/capability.ts'
import { catalogKinds } from '../../core/catalog-kinds.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest } from '../../http/page-view.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import type { Licensed } from '../../license/licensed.ts'
import { administrationFilter, administrationOf, administrationPage } from './administration-log.ts'
import {
  endedSession,
  mintedSession,
  sessionEnd,
  sessionExample,
  sessionFilter,
  sessionPage,
  wantedSession,
} from './session-schemas.ts'
import { endSession, listSessions, mintSession, type SessionParts } from './sessions.ts'
import {
  everyCredential,
  everyTenant,
  existingTenant,
  newTenant,
  oneTenant,
  putCredential,
  removeCredential,
  rotateCredential,
  setTenantState,
  tenantOf,
} from './tenants.ts'

const operation = operationsOf<SessionParts & { readonly licensed: Licensed }>()
const common = { tag: 'administration', access: { organization: 'internal admin' } } as const
const tenantPath = '/admin/tenants/{tenant}' as const
const catalogPath = `${tenantPath}/catalogs/{nickname}` as const
const ofTenant = { tenant: text }
const unknown = { not_found: 'There is no such tenant, catalog or session.' }

const tenant = object({
  id: uuid,
  organization_id: maybe(described(text, 'of the identity provider')),
  name: text,
  state: oneOf(['active', 'suspended']),
  created_at: time,
})
const catalog = object({
  id: uuid,
  version: wholeNumber,
  catalog_kind: oneOf(catalogKinds),
  nickname: text,
  endpoint: text,
  config_json: described(anyObject, 'without secrets'),
})
const license = object({
  state: oneOf(['none', 'valid', 'grace', 'expired']),
  id: maybe(text),
  licensee: maybe(text),
  capabilities: maybe(list(oneOf(commercialCapabilities))),
  tenants_max: maybe(wholeNumber),
  issued_at: maybe(time),
  expires_at: maybe(time),
  grace_ms: maybe(wholeNumber),
  development: maybe(flag),
})

export const adminOperations = [
  operation({
    ...common,
    name: 'list_tenants',
    summary: 'Lists the tenants',
    method: 'GET',
    path: '/admin/tenants',
    gives: { nothing: 'administration' },
    input: object(pageInput),
    output: pageOf(tenant),
    run: ({ parts }, page) => everyTenant(parts.store, pageRequest(page)),
  }),
  operation({
    ...common,
    name: 'make_tenant',
    summary: 'Makes a tenant with its own schema and graph, if the license allows one more',
    method: 'POST',
    path: '/admin/tenants',
    gives: { nothing: 'own input' },
    input: object({
      name: Type.String({ minLength: 1, maxLength: 255 }),
      organization_id: maybe(described(text, '`org_…`')),
      if_absent: maybe(
        described(
          flag,
          'a tenant of this name, and organization where given, is the answer where there is one',
        ),
      ),
    }),
    output: tenant,
    status: 201,
    faults: {
      conflict: 'Another tenant already has this organization, or with `if_absent` several have the name.',
    },
    examples: [{ input: { name: 'Acme', organization_id: 'org_01HACME' } }],
    run: async ({ parts, caller }, { name, organization_id: organizationId, if_absent: ifAbsent }) => {
      const wanted = { name, organizationId, ...(ifAbsent !== undefined && { ifAbsent }) }
      return await newTenant(parts.store, parts.licensed, wanted, await caller.actor())
    },
  }),
  operation({
    ...common,
    name: 'get_tenant',
    summary: 'Shows a tenant',
    method: 'GET',
    path: tenantPath,
    gives: { nothing: 'administration' },
    input: object(ofTenant),
    output: tenant,
    faults: unknown,
    run: async ({ parts }, input) => await oneTenant(parts.store, tenantOf(input.tenant)),
  }),
  operation({
    ...common,
    name: 'suspend_tenant',
    summary: 'Suspends a tenant: all its sessions are refused from the next request on',
    method: 'POST',
    path: `${tenantPath}/suspend`,
    gives: { nothing: 'own input' },
    input: object(ofTenant),
    output: tenant,
    faults: unknown,
    run: async ({ parts, caller }, input) =>
      await setTenantState(parts.store, tenantOf(input.tenant), 'suspended', await caller.actor()),
  }),
  operation({
    ...common,
    name: 'resume_tenant',
    summary: 'Resumes a suspended tenant',
    method: 'POST',
    path: `${tenantPath}/resume`,
    gives: { nothing: 'own input' },
    input: object(ofTenant),
    output: tenant,
    faults: { ...unknown, conflict: 'The removal of the tenant is confirmed.' },
    run: async ({ parts, caller }, input) =>
      await setTenantState(parts.store, tenantOf(input.tenant), 'active', await caller.actor()),
  }),
  operation({
    ...common,
    name: 'list_catalogs',
    summary: 'Lists a tenant’s catalog credentials, without secrets',
    method: 'GET',
    path: `${tenantPath}/catalogs`,
    gives: { nothing: 'administration' },
    input: object({ ...ofTenant, ...pageInput }),
    output: pageOf(catalog),
    faults: unknown,
    run: async ({ parts }, { tenant: id, ...page }) =>
      await everyCredential(parts.store, await existingTenant(parts.store, id), pageRequest(page)),
  }),
  operation({
    ...common,
    name: 'put_catalog',
    summary: 'Adds a catalog under a {prefix}, or replaces it with its secrets',
    method: 'PUT',
    path: catalogPath,
    gives: { nothing: 'own input' },
    input: object({
      ...ofTenant,
      nickname: text,
      catalog_kind: oneOf(catalogKinds),
      endpoint: nonEmpty,
      config_json: described(
        anyObject,
        'of the adapter and the read engine; secrets are encrypted, and never shown',
      ),
    }),
    output: object({ id: uuid, version: wholeNumber }),
    faults: { ...unknown, unprocessable: 'This catalog kind has no adapter.' },
    examples: [
      {
        input: {
          tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11',
          nickname: 'lake',
          catalog_kind: 'alpha',
          endpoint: 'https://catalog.example',
          config_json: { warehouse: 'analytics', credential: 'client:secret' },
        },
      },
    ],
    run: async (
      { parts, caller },
      { tenant: id, nickname, catalog_kind: kind, endpoint, config_json: config },
    ) =>
      await putCredential(
        parts.store,
        tenantOf(id),
        { nickname, kind, endpoint, config },
        await caller.actor(),
      ),
  }),
  operation({
    ...common,
    name: 'change_catalog',
    summary: 'Changes fields of a catalog’s configuration, for example to rotate a secret',
    method: 'PATCH',
    path: catalogPath,
    gives: { nothing: 'own input' },
    input: object({
      ...ofTenant,
      nickname: text,
      config_json: described(anyObject, 'fields to set; null removes one'),
    }),
    output: object({ version: wholeNumber }),
    faults: unknown,
    run: async ({ parts, caller }, { tenant: id, nickname, config_json: config }) =>
      await rotateCredential(parts.store, tenantOf(id), nickname, config, await caller.actor()),
  }),
  operation({
    ...common,
    name: 'remove_catalog',
    summary: 'Removes a catalog; its {prefix} is 404 from then on',
    method: 'DELETE',
    path: catalogPath,
    gives: { nothing: 'own input' },
    input: object({ ...ofTenant, nickname: text }),
    faults: unknown,
    run: async ({ parts, caller }, { tenant: id, nickname }) =>
      await removeCredential(parts.store, tenantOf(id), nickname, await caller.actor()),
  }),
  operation({
    ...common,
    name: 'list_sessions',
    summary: 'Lists a tenant’s sessions, without secrets',
    method: 'GET',
    path: `${tenantPath}/sessions`,
    gives: { nothing: 'administration' },
    input: object({ ...ofTenant, ...sessionFilter }),
    output: sessionPage,
    faults: unknown,
    run: async ({ parts }, { tenant: id, kind = 'service', ...page }) =>
      await listSessions(parts, await existingTenant(parts.store, id), kind, pageRequest(page)),
  }),
  operation({
    ...common,
    name: 'mint_session',
    summary: 'Makes a service session of a tenant',
    method: 'POST',
    path: `${tenantPath}/sessions`,
    gives: { nothing: 'own input' },
    input: object({ ...ofTenant, ...wantedSession }),
    output: mintedSession,
    status: 201,
    faults: unknown,
    examples: [{ input: { tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11', ...sessionExample } }],
    run: async ({ parts, caller }, { tenant: id, ...wanted }) => {
      const existing = await existingTenant(parts.store, id)
      const minter = { actor: await caller.actor(), isOperator: true }
      return await mintSession(parts.store, existing, parts.clock.now(), wanted, minter)
    },
  }),
  operation({
    ...common,
    name: 'end_session',
    summary: 'Revokes a session, with effect on the next request',
    description: sessionEnd,
    method: 'DELETE',
    path: `${tenantPath}/sessions/{session}`,
    gives: { nothing: 'administration' },
    input: object({ ...ofTenant, session: text }),
    output: endedSession,
    faults: { not_found: 'There is no such session, or it was already revoked.' },
    run: async ({ parts, caller }, { tenant: id, session }) =>
      await endSession(parts, tenantOf(id), session, await caller.actor()),
  }),
  operation({
    ...common,
    name: 'list_tenant_administration',
    summary: 'Who administered a tenant: sessions, catalogs, policies, contracts, decisions; newest first',
    method: 'GET',
    path: `${tenantPath}/administration`,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({ ...ofTenant, ...administrationFilter }),
    output: administrationPage,
    faults: unknown,
    run: async ({ parts }, { tenant: id, ...filter }) =>
      await administrationOf(parts.store, await existingTenant(parts.store, id), filter),
  }),
  operation({
    ...common,
    name: 'get_license',
    summary: 'Shows the installed license and its state',
    method: 'GET',
    path: '/admin/license',
    gives: { nothing: 'service' },
    output: license,
    run: async ({ parts: { licensed } }) => {
      const { license: installed } = licensed
      if (installed === undefined) return { state: licensed.state() }
      const { id, licensee, capabilities, tenantsMax, issuedAtMs, expiresAtMs, graceMs, development } =
        installed
      return {
        state: licensed.state(),
        id,
        licensee,
        capabilities,
        tenants_max: tenantsMax,
        issued_at: new Date(issuedAtMs),
        expires_at: new Date(expiresAtMs),
        grace_ms: graceMs,
        development,
      }
    },
  }),
]
