/**
 * Every route answers as recorded-answers.json says: statuses, headers, forms of bodies. A change of that file changes
 * the public interface. `RECORD=1 bun test` of this file writes it.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { type IdentityService, startIdentityService } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import recorded from './recorded-answers.json'
import { recordRefusals, recordSuccesses } from './recorded-answers.ts'
import { recordedRequests } from './recorded-requests.ts'

setDefaultTimeout(300_000)

let service: IdentityService
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
})
afterAll(() => service[Symbol.asyncDispose]())

test('every route refuses as recorded, and succeeds as recorded', async () => {
  const refusals = await recordRefusals(service)
  const successes = await recordSuccesses(service, recordedRequests)
  if (process.env.RECORD !== undefined) {
    const text = `${JSON.stringify({ refusals, successes }, null, 2)}\n`
    await Bun.write(new URL('recorded-answers.json', import.meta.url), text)
    return
  }
  expect(Object.keys(refusals).length).toBeGreaterThan(50)
  expect({ refusals, successes }).toEqual(recorded)
})
