/** Declares the operations on PostgreSQL sources with which tables are compared. Passwords are never shown. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Secret } from '../../base/secret.ts'
import type { AddressRules } from '../../catalog/address.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  text,
} from '../../http/schemas.ts'
import { listSources, putSource, removeSource, tlsModes } from '../../store/reconcile/sources.ts'
import type { Store } from '../../store/store.ts'
import { checkSource } from './postgres-source.ts'

const pair = tenantOperationsOf<{ readonly store: Store; readonly addressRules: AddressRules }>()
const tag = 'checks'
const administering = {
  scope: 'admin',
  roles: ['administrator', 'owner'],
  capability: 'contracts',
} as const
const name = { ...nonEmpty, pattern: '^[a-zA-Z0-9_-]+$', maxLength: 255 }
const short = { ...nonEmpty, maxLength: 255 }
const members = {
  host: described(short, 'a name or an address; a private one must be allowed by the operator'),
  port: maybe({ ...ordinal, maximum: 65_535, default: 5432 }),
  database: short,
  user: described(short, 'who reads the tables, and nothing else'),
  tls: maybe(
    described(oneOf(tlsModes, { default: 'verify' }), '`off` only for hosts that the operator allows'),
  ),
}

export const sourceOperations = [
  pair({
    name: 'list_reconciliation_sources',
    tag,
    summary: 'The PostgreSQL sources with which tables are compared, without passwords',
    method: 'GET',
    path: '/reconciliation-sources',
    access: { ...administering, scope: 'read', roles: ['steward', 'administrator', 'owner'] },
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(
      object({
        name: text,
        ...{ host: text, port: ordinal, database: text, user: text, tls: oneOf(tlsModes) },
      }),
    ),
    run: async ({ parts, tenant }, page) =>
      pageView(await listSources(parts.store, tenant, pageRequest(page)), (source) => source),
  }),
  pair({
    name: 'put_reconciliation_source',
    tag,
    summary: 'Adds a PostgreSQL source, or replaces the one of this name',
    method: 'PUT',
    path: '/reconciliation-sources/{name}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { name, ...members, password: short },
    examples: [
      {
        input: {
          ...{ name: 'crm', host: 'crm-db.example', database: 'crm', user: 'covenant_reader' },
          password: '…',
        },
      },
    ],
    run: async ({ parts, tenant, actor }, { port = 5432, tls = 'verify', password, ...given }) => {
      const source = { ...given, port, tls }
      await checkSource(source, parts.addressRules)
      await putSource(parts.store, tenant, { ...source, password: new Secret(password) }, await actor())
    },
  }),
  pair({
    name: 'remove_reconciliation_source',
    tag,
    summary: 'Removes a PostgreSQL source',
    method: 'DELETE',
    path: '/reconciliation-sources/{name}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { name },
    faults: { not_found: 'There is no such source.' },
    run: async ({ parts, tenant, actor }, { name: named }) => {
      await removeSource(parts.store, tenant, named, await actor())
    },
  }),
].flat()
