/** The service times of the development catalog, and the requests that measure a catalog. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type OpenCatalog, openDevelopment } from '../../bench/catalogs.ts'
import { BenchFlags } from '../../bench/entry.ts'
import { expiresSnapshots } from '../../bench/expiry.ts'
import { measureCatalog } from '../../bench/measure-catalog.ts'
import { chosenProfile, profileTimes } from '../../bench/service-times.ts'
import { percentile, seededRandom } from '../../bench/statistics.ts'
import { connectUpstream } from '../../bench/upstream.ts'

const profileOf = async (name: string) => {
  const profile = await chosenProfile(new BenchFlags({ profile: name }))
  if (profile === undefined) throw new Error('there is no profile')
  return profile
}
const nothing = { load: [0], conditionalLoad: [0], commit: [0] }
const median = (samples: readonly number[]) => percentile(samples, 0.5)

describe('a profile', () => {
  test('gives the development catalog the times that were measured', async () => {
    const profile = await profileOf('rest-fixture')
    expect(profile.title).toMatch(/^rest-fixture \d/)
    expect(profileTimes(profile, 'large', nothing)).toEqual(profile.times.large)
  })

  test('in proportion makes the median commit of the small table take what was asked for', async () => {
    const profile = await profileOf('rest-fixture')
    const scaled = profileTimes(profile, 'small', nothing, 60)
    expect(median(scaled.commit)).toBeCloseTo(60, 6)
    const { load, commit } = profile.times.small
    expect(median(scaled.load) / 60).toBeCloseTo(median(load) / median(commit), 6)
    const large = profileTimes(profile, 'large', nothing, 60)
    expect(median(large.commit) / 60).toBeCloseTo(median(profile.times.large.commit) / median(commit), 6)
  })

  test('leaves out what the development catalog takes for its own work, down to nothing', async () => {
    const profile = await profileOf('rest-fixture')
    const { load, commit } = profile.times.small
    const least = Math.min(...commit)
    const left = profileTimes(profile, 'small', { ...nothing, load: [1e6], commit: [least] })
    expect(Math.min(...left.commit)).toBe(0)
    expect(median(left.commit)).toBeCloseTo(median(commit) - least, 6)
    expect(left.load).toEqual(load.map(() => 0))
  })

  test('of a catalog without conditional loads is taken by a development catalog without them', async () => {
    const nessie = await profileOf('nessie')
    expect(nessie.dialect).toBe('beta')
    expect((await profileOf('rest-fixture')).dialect).toBe('alpha')
    await using catalog = await openDevelopment(nessie.dialect)
    const times = await measureCatalog(catalog, { columns: 2, snapshots: 1 }, 0.05, seededRandom(1))
    expect(times.conditionalLoad).toEqual([])
    expect(times.load.length).toBeGreaterThan(0)
  })
})

describe('a catalog', () => {
  let catalog: OpenCatalog
  /** In front of the development catalog; answers an expiry, where told to, as Nessie answers it. */
  let proxy: Bun.Server<undefined>
  let refusal: (() => Response) | undefined
  let dropped: string[] = []

  beforeAll(async () => {
    catalog = await openDevelopment()
    const { endpoint } = catalog.upstream.address
    proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        if (request.method === 'DELETE') dropped.push(pathname)
        const body = await request.text()
        if (refusal !== undefined && body.includes('remove-snapshots')) return refusal()
        const { method, headers } = request
        return fetch(endpoint + pathname + search, { method, headers, ...(body === '' ? {} : { body }) })
      },
    })
  })
  afterAll(async () => {
    proxy.stop(true)
    await catalog[Symbol.asyncDispose]()
  })

  const ask = async (answer?: () => Response) => {
    refusal = answer
    dropped = []
    const endpoint = `http://127.0.0.1:${proxy.port}`
    return await expiresSnapshots(await connectUpstream({ ...catalog.upstream.address, endpoint }))
  }
  const error = (status: number, type: string) => () =>
    Response.json({ error: { type, code: status } }, { status })

  test('that expires snapshots is known as such, and nothing is left in it', async () => {
    expect(await ask()).toBe(true)
    expect(dropped).toHaveLength(2)
  })

  test.each([
    [500, 'UnsupportedOperationException'],
    [501, 'NotImplementedException'],
    [400, 'BadRequestException'],
  ])('that answers an expiry with %d %s does not expire snapshots', async (status, type) => {
    expect(await ask(error(status, type))).toBe(false)
    expect(dropped).toHaveLength(2)
  })

  test('that fails otherwise is not measured', async () => {
    const problem = await ask(error(503, 'ServiceUnavailableException')).catch(String)
    expect(problem).toContain('answered 503 to an expiry')
    expect(dropped).toHaveLength(2)
  })
})
