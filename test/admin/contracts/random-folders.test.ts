/** Random folders: after applying, and after exporting, a plan finds no change; another tenant is untouched. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { roundsOf } from '../../support/long-form.ts'
import { type ContractWorld, contractText, startContractWorld } from './world.ts'

setDefaultTimeout(600_000)

const names = ['a', 'b', 'c', 'd']
let world: ContractWorld

beforeAll(async () => {
  world = await startContractWorld(names)
  expect((await world.ask('PUT', '/documents/a', world.mallory, contractText('a', '5.0.0')))[0]).toBe(200)
})
afterAll(() => world[Symbol.asyncDispose]())

interface State {
  readonly email: 'mask' | 'clear' | 'none'
  readonly region: boolean
  readonly comment: string
}

const state = fc.record({
  email: fc.constantFrom('mask' as const, 'clear' as const, 'none' as const),
  region: fc.boolean(),
  comment: fc
    .string({ unit: 'grapheme-ascii', maxLength: 12 })
    .map((text) => text.replaceAll(/[\r\n]/g, ' ')),
})
const folders = fc.array(fc.dictionary(fc.constantFrom(...names), state, { minKeys: 1 }), {
  minLength: 1,
  maxLength: 3,
})

test('plan, apply and plan again finds nothing; so does export and plan', async () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  let round = 0
  const versions = new Map<string, number>()
  const property = fc.asyncProperty(folders, async (history) => {
    for (const wanted of history) {
      round += 1
      const files = Object.fromEntries(
        Object.entries(wanted).map(([id, one]) => [
          `${id}.odcs.yaml`,
          `# ${one.comment}\n${textOf(id, one)}`,
        ]),
      )
      const folder = world.folder(`round-${round}`, files)
      const planned = await world.run('plan', [folder, '--prune'])
      expect([0, 2, 3]).toContain(planned.status)
      expect(await world.run('apply', [folder, '--prune'])).toMatchObject({ status: 0, err: '' })
      expect(await world.run('plan', [folder, '--prune'])).toMatchObject({ status: 0, err: '' })
      await world.bringInForce()
      expect(await world.run('plan', [folder, '--prune'])).toMatchObject({ status: 0, err: '' })
      expect(await world.run('diff', [folder])).toMatchObject({ status: 0 })

      const exported = world.folder(`export-${round}`)
      expect((await world.run('export', [exported])).status).toBe(0)
      expect(await world.run('plan', [exported, '--prune'])).toMatchObject({ status: 0 })
      rmSync(exported, { recursive: true })
    }
  })
  await fc.assert(property, { seed, numRuns: roundsOf(20) })
  const [, foreign] = await world.ask('GET', '/documents', world.mallory)
  expect(foreign.items as unknown).toMatchObject([{ id: 'a', versions: [{ version: '5.0.0' }] }])
  expect(foreign.items as unknown).toHaveLength(1)

  /** A new major version for each round, so that no change is too large for its number. */
  function textOf(id: string, { email, region }: State): string {
    versions.set(id, round)
    return contractText(id, `${round}.0.0`, { email, more: region ? '  - {name: region}\n' : '' })
  }
})
