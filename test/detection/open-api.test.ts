/** The OpenAPI document of /api/v1/detection is complete, and the resources answer as it says. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DetectionService, startDetectionService } from '../support/detection.ts'
import { departures } from '../support/json-schema.ts'

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}
interface Operation {
  readonly summary?: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: Content
  readonly responses?: Readonly<Record<string, Content>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

let detection: DetectionService
let paths: Paths
const base = '/api/v1/detection'

beforeAll(async () => {
  detection = await startDetectionService()
  const url = new URL('/api/v1/openapi.json', detection.service.app.url)
  ;({ paths } = (await (await fetch(url)).json()) as { paths: Paths })
  const rows = Array.from({ length: 10 }, (_, id) => ({ id, email: `p${id}@example.com`, ssn: '', note: '' }))
  await detection.commitPeople([{ rows }], 'gateway')
  await detection.detect()
}, 300_000)
afterAll(() => detection[Symbol.asyncDispose]())

const schemaOf = (content: Content | undefined): object => {
  const schema = content?.content?.['application/json']?.schema
  if (schema === undefined) throw new Error('the document holds no schema')
  return schema
}

/** Calls a resource; its answer must be what the document says of that status. */
async function called(
  method: 'GET' | 'POST',
  path: string,
  target: string,
  status: number,
  options: { readonly body?: object | string; readonly secret?: string } = {},
): Promise<Record<string, unknown>> {
  const operation = paths[`${base}/${path}`]?.[method.toLowerCase()]
  if (typeof options.body === 'object' && status < 300)
    expect(departures(options.body, schemaOf(operation?.requestBody))).toEqual([])
  const response = await detection.call(method, target, options)
  const answer = (await response.json()) as Record<string, unknown>
  expect({ status: response.status, answer }).toMatchObject({ status })
  expect(departures(answer, schemaOf(operation?.responses?.[status]))).toEqual([])
  return answer
}

test('describes every route of detection with its answers, refusals and parameters', () => {
  const routes = detection.service.app.routes.list().filter(({ path }) => path.startsWith(base))
  expect(routes.length).toBeGreaterThan(4)
  for (const { method, path } of routes) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    expect({ path, summary: operation?.summary }).toEqual({ path, summary: expect.any(String) })
    const statuses = Object.keys(operation?.responses ?? {})
    expect(statuses).toEqual(expect.arrayContaining(['400', '401', '403', '503']))
    for (const status of statuses.filter((one) => one !== '204')) schemaOf(operation?.responses?.[status])
    // Verbs on a classifier have no body.
    if (method === 'POST' && !/activate$/.test(path)) schemaOf(operation?.requestBody)
    const inPath = (operation?.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name))
  }
  expect(Object.keys(paths['/v1/webhooks/alpha']?.post?.responses ?? {})).toEqual(
    expect.arrayContaining(['200', '400', '401', '410', '503']),
  )
})

test('says what runs, findings, decisions and rescans answer', async () => {
  const runs = await called('GET', 'runs', 'runs?limit=1', 200)
  const [run] = runs.items as [{ id: string }]
  await called('GET', 'runs/{id}', `runs/${run.id}`, 200)
  const found = await called('GET', 'findings', 'findings?class=email', 200)
  const [finding] = found.items as [{ id: string }]
  await called('POST', 'findings/{id}/decisions', `findings/${finding.id}/decisions`, 200, {
    body: { decision: 'exempt', reason: 'synthetic' },
    secret: detection.stewardSecret,
  })
  await called('GET', 'findings', 'findings?status=exempt', 200)
  const again = { body: { table: { namespace: ['sales'], name: 'people' } } }
  await called('POST', 'rescans', 'rescans', 202, again)
  await detection.service.app.detection.detector.idle()
  await called('GET', 'runs/{id}', `runs/${run.id}`, 200)
})

test('says what is answered to what is not as it must be', async () => {
  const none = crypto.randomUUID()
  await called('GET', 'runs', 'runs?state=gone', 400)
  await called('GET', 'findings', 'findings', 401, { secret: 'svc_none' })
  await called('GET', 'runs/{id}', `runs/${none}`, 404)
  await called('POST', 'findings/{id}/decisions', `findings/${none}/decisions`, 404, {
    body: { decision: 'confirm' },
  })
  await called('POST', 'findings/{id}/decisions', `findings/${none}/decisions`, 403, {
    body: { decision: 'reject', reason: 'x' },
    secret: detection.service.owner.secret,
  })
  await called('POST', 'rescans', 'rescans', 400, { body: '[]' })
  await called('POST', 'rescans', 'rescans', 404, { body: { table: { namespace: ['sales'], name: 'none' } } })
})
