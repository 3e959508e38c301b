/** What a scrape shows of the XMLA listener. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../support/eventually.ts'
import { ask, envelope, executeBody, postText, XmlaConnection } from '../../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../../support/xmla-lake.ts'

setDefaultTimeout(120_000)

let started: XmlaLake
beforeAll(async () => {
  started = await startXmlaLake()
})
afterAll(() => started.lake[Symbol.asyncDispose]())

/** The value of a series; undefined where there is none. */
async function scraped(series: string): Promise<number | undefined> {
  const text = await (await fetch(new URL('/metrics', started.lake.app.metricsUrl))).text()
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

test('a scrape counts requests, faults, times and refusals, and the connections that are open', async () => {
  const { lake, ann } = started
  const of = `tenant="${lake.tenant}"`
  const total = 'SELECT FROM [sales.orders] WHERE ([Measures].[revenue])'
  expect(await ask(ann, executeBody(total))).toMatchObject({ kind: 'dataset' })
  expect(await ask(ann, executeBody('SELECT Foo() ON 0 FROM [sales.orders]'))).toMatchObject({
    kind: 'fault',
  })
  {
    using connection = await XmlaConnection.open(ann.port)
    connection.write(postText({ ...ann, secret: 'wrong' }, envelope(executeBody(total))))
    expect((await connection.answer()).status).toBe(401)
    expect(await scraped('svc_xmla_connections')).toBe(1)
  }
  await eventually(async () => (await scraped('svc_xmla_connections')) === 0)
  expect(await scraped(`svc_xmla_requests_total{${of},outcome="done"}`)).toBe(1)
  expect(await scraped(`svc_xmla_requests_total{${of},outcome="failed"}`)).toBe(1)
  expect(await scraped(`svc_xmla_faults_total{${of},code="Client"}`)).toBe(1)
  expect(await scraped(`svc_xmla_faults_total{${of},code="Server"}`)).toBeUndefined()
  expect(await scraped(`svc_xmla_request_duration_seconds_count{${of}}`)).toBe(2)
  expect(await scraped('svc_xmla_refused_total{status="401"}')).toBe(1)
  expect(await scraped('svc_mdx_thread_restarts_total')).toBe(0)
})
