/** Starts a service whose catalog holds tables with data, for tests of detection. */

import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendSnapshot } from '../../demo/commits.ts'
import {
  type Appended,
  type FileOptions,
  type IcebergWriter,
  tableInFolder,
} from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { licenseFor } from './license.ts'
import {
  addTenant,
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TestTenant,
  upstreamHeaders,
} from './service.ts'

const people: TableRef = { namespace: ['sales'], name: 'people' }
export const peopleFields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'email', type: 'string' },
  { id: 3, name: 'ssn', type: 'string' },
  { id: 4, name: 'note', type: 'string' },
]
export const webhookSecret = 'a shared webhook secret'

export interface DetectionService extends AsyncDisposable {
  readonly service: TestService
  /** Another tenant with a catalog of its own, always there. */
  readonly foreign: TestTenant
  /** Texts that the chat was sent. */
  readonly alerts: readonly string[]
  /** What the chat answers next, in this order; then 200. */
  readonly chatAnswers: number[]
  /** Secret of a session with every scope whose principal is a steward. */
  readonly stewardSecret: string
  /** A writer of data below the registered storage root. */
  newWriter(name: string): IcebergWriter
  /** Adds a snapshot with these files to sales.people, through the gateway or past it. */
  commitPeople(files: readonly FileOptions[], through: 'gateway' | 'catalog'): Promise<Appended>
  /** One round of the poller, and all that it queued scanned. */
  detect(): Promise<void>
  /** Calls the REST API, as a steward unless another secret is given. */
  call(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly secret?: string },
  ): Promise<Response>
}

/** Starts it, licensed for detection unless `env` says otherwise, with the table sales.people upstream and empty. */
export async function startDetectionService(options: TestServiceOptions = {}): Promise<DetectionService> {
  const alerts: string[] = []
  const chatAnswers: number[] = []
  const chat = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const status = chatAnswers.shift() ?? 200
      const { text } = (await request.json()) as { text: string }
      if (status === 200) alerts.push(text)
      return new Response(null, { status })
    },
  })
  const service = await startTestService({
    ...options,
    env: {
      SVC_L3_WORKERS: '2',
      SVC_CHAT_WEBHOOK_URL: `${chat.url.href}hook/T0/B0`,
      SVC_LICENSE: licenseFor('detection'),
      ...options.env,
    },
  })
  const { store, catalog, owner } = service
  const root = await realpath(tmpdir())
  await putCatalogCredential(store, owner.tenant, {
    nickname: 'main',
    kind: 'alpha',
    endpoint: catalog.url,
    config: {
      endpoint: catalog.url,
      warehouse: 'dev',
      credential: 'gateway:s3cret',
      webhook_secret: webhookSecret,
      storage_roots: [root, tmpdir()],
      namespaces: ['sales'],
    },
  })
  const foreign = await addTenant(store, 'other', catalog.url)
  const { secret: stewardSecret } = await createServiceSession(store, owner.tenant, {
    name: 'steward',
    principal: { sub: 'sam', roles: ['steward'] },
    scopes: ['read', 'admin'],
  })
  const headers = await upstreamHeaders(catalog)
  const tables = `${catalog.url}/v1/dev/namespaces/sales/tables`
  await fetch(tables, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      name: people.name,
      schema: { type: 'struct', fields: peopleFields.map((field) => ({ required: false, ...field })) },
    }),
  })
  const folder = await mkdtemp(join(root, 'covenant-data-'))
  const newWriter = (name: string) => tableInFolder(folder, name, { fields: peopleFields })
  const writer = newWriter('people')
  let parent: bigint | undefined
  let sequence = 0
  return {
    service,
    foreign,
    alerts,
    chatAnswers,
    stewardSecret,
    newWriter,
    async commitPeople(files, through) {
      const appended = await writer.append(files)
      const { snapshotId, manifestList } = appended
      const body = appendSnapshot({
        snapshotId,
        parentId: parent,
        sequenceNumber: ++sequence,
        timestampMs: Date.now(),
        manifestList,
      })
      const response =
        through === 'catalog'
          ? await fetch(`${tables}/people`, { method: 'POST', headers, body })
          : await fetch(new URL('/v1/iceberg/main/namespaces/sales/tables/people', service.app.url), {
              method: 'POST',
              headers: { 'x-svc-session': owner.secret },
              body,
            })
      if (!response.ok)
        throw new Error(`the commit was answered ${response.status}: ${await response.text()}`)
      parent = appended.snapshotId
      const { 'metadata-location': metadataLocation } = (await response.json()) as {
        'metadata-location': string
      }
      return { ...appended, metadataLocation }
    },
    async detect() {
      await service.app.jobs.run('poll-snapshots')
      await service.app.detection.detector.idle()
    },
    call: (method, path, { body, secret = stewardSecret } = {}) =>
      fetch(new URL(`/api/v1/detection/${path}`, service.app.url), {
        method,
        headers: { 'x-svc-session': secret },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await chat.stop(true)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
