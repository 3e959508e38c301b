/** Stores one secret of each kind, as the service does, and opens each again. */

import { Secret } from '../../../src/base/secret.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { secretsKeyProvider, tenantKey } from '../../../src/protection/tenant-keys.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { sealedColumns } from '../../../src/store/database/sealed-columns.ts'
import { seal, unseal } from '../../../src/store/database/sealing.ts'
import { setEventAside } from '../../../src/store/detection/runs.ts'
import { findSource, putSource } from '../../../src/store/reconcile/sources.ts'
import { createBrowserSession, endBrowserSession } from '../../../src/store/session/browser-sessions.ts'
import { loadSigningKeys } from '../../../src/store/session/signing-keys.ts'
import type { Store } from '../../../src/store/store.ts'
import { addSubscription, openReceiver } from '../../../src/store/webhook/subscriptions.ts'
import { actorOf } from '../../support/actor.ts'

const source = {
  ...{ name: 'orders', host: 'db.example', port: 5432, database: 'd', user: 'u' },
  tls: 'off' as const,
  password: new Secret('of a source'),
}

/** What was stored, as it is needed to find it again. */
export interface SealedValues {
  readonly tenant: TenantId
  readonly webhook: string
  readonly cookie: string
  readonly signingKey: string
}

/** Stores one value in each column that is sealed. */
export async function storeSealedValues(store: Store, tenant: TenantId): Promise<SealedValues> {
  const by = actorOf('ada')
  await putCatalogCredential(store, tenant, {
    ...{ nickname: 'main', kind: 'alpha', endpoint: 'https://catalog.example' },
    config: { credential: 'id:of a catalog' },
  })
  await putSource(store, tenant, source, by)
  const receiver = { name: 'orders', url: new URL('https://receiver.example/path'), types: ['*'] }
  const { id: webhook } = await addSubscription(store, tenant, receiver, 'of a webhook', 0n, by)
  await tenantKey(store, secretsKeyProvider(store), tenant)
  const login = { principal: { sub: 'ada', roles: [] }, scopes: [], providerSid: undefined }
  const cookie = await createBrowserSession(store, tenant, { ...login, idToken: 'of a login' }, undefined)
  const sealed = seal(store.secretsKey, sealedColumns.setAside.place(tenant, 'one'), 'of an event')
  await setEventAside(store, tenant, { id: 'one', reason: 'seed', sealed })
  const [{ id: signingKey }] = await loadSigningKeys(store)
  return { tenant, webhook, cookie: cookie ?? '', signingKey }
}

/** Opens each by the function that the service opens it by. The login ends. */
export async function openSealedValues(store: Store, values: SealedValues): Promise<readonly unknown[]> {
  const { tenant, webhook, cookie, signingKey } = values
  const one = async (table: string) => {
    const [row] = await store.tenantQuery<{ sealed: Uint8Array }>(
      tenant,
      `select sealed from svc.${table} where tenant_id = $1`,
      [tenant],
    )
    return row?.sealed ?? new Uint8Array()
  }
  return [
    (await findCatalogCredential(store, tenant, 'main'))?.config.credential,
    (await findSource(store, tenant, 'orders'))?.password.reveal(),
    openReceiver(store, tenant, webhook, await one('webhook_subscription')).reveal().secret,
    await endBrowserSession(store, cookie),
    unseal(store, sealedColumns.setAside.place(tenant, 'one'), await one('detection_set_aside')),
    (await loadSigningKeys(store)).some(({ id }) => id === signingKey),
  ]
}

export const sealedTexts = [
  ...['id:of a catalog', 'of a source', 'of a webhook', 'of a login', 'of an event'],
  true,
]
