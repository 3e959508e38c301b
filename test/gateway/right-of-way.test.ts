/** When the gateway reports a commit in progress. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { handPace } from '../support/hand-pace.ts'
import { commit, prefix, startTestService } from '../support/service.ts'

setDefaultTimeout(300_000)

const quietMs = 100

test.each([
  ['literal path', `/v1/iceberg/${prefix}/namespaces/sales/tables/orders`],
  ['client surface', `/v1/iceberg/${prefix}/v1/namespaces/sales/tables/orders`],
])('a commit by the %s is at work from its request to its answer, refused or not', async (_name, path) => {
  const pace = handPace()
  const commits = new RightOfWay({ quietMs, waitMsMax: 10_000 }, pace)
  const restMs: number[] = []
  await using service = await startTestService({
    commits,
    passCrashPoint: () => {
      pace.advance(1_000)
      restMs.push(commits.restMs)
    },
  })
  pace.advance(1_000)
  expect(commits.restMs).toBe(0)
  expect((await commit(service, setProperties({ a: '1' }), { path })).status).toBe(200)
  expect(restMs.length).toBeGreaterThan(0)
  expect(new Set(restMs)).toEqual(new Set([quietMs]))
  expect(commits.restMs).toBe(quietMs)
  pace.advance(quietMs)
  expect(commits.restMs).toBe(0)
  expect((await commit(service, 'no JSON', { path })).status).toBe(400)
  expect(commits.restMs).toBe(quietMs)
  pace.advance(quietMs)
  expect(commits.restMs).toBe(0)
})
