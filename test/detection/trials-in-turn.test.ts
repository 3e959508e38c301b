/** Trials of classifiers on tables: one scans at a time, and tenants take turns. */

import { expect, test } from 'bun:test'
import { newTenantId } from '../../src/core/tenant.ts'
import type { ScanTask } from '../../src/detection/scan/scan-snapshot.ts'
import { trialsInTurn } from '../../src/detection/trials-in-turn.ts'
import type { ScanOutcome } from '../../src/detection/worker-protocol.ts'

const task = (metadataLocation: string) => ({ metadataLocation }) as ScanTask
const failed = (reason: string): ScanOutcome => ({ kind: 'failed', reason, passing: false })

test('the trial of a tenant waits for that of another, and a second one of a tenant is refused', async () => {
  const begun: string[] = []
  const held = Promise.withResolvers<void>()
  const scan = trialsInTurn(async ({ metadataLocation }) => {
    begun.push(metadataLocation)
    await held.promise
    return failed(metadataLocation)
  })
  const [one, other] = [newTenantId(), newTenantId()]
  const [first, second] = [scan(one, task('a1')), scan(other, task('b1'))]
  await expect(scan(one, task('a2'))).rejects.toThrow('Another trial on a table of yours is running.')
  expect(begun).toEqual(['a1'])
  held.resolve()
  expect(await Promise.all([first, second])).toEqual([failed('a1'), failed('b1')])
  expect(begun).toEqual(['a1', 'b1'])
})

test('a trial that fails lets the next one begin', async () => {
  const scan = trialsInTurn(async ({ metadataLocation }) => {
    if (metadataLocation === 'bad') throw new Error('bad')
    return failed('')
  })
  const tenant = newTenantId()
  await expect(scan(tenant, task('bad'))).rejects.toThrow('bad')
  expect(await scan(tenant, task('good'))).toEqual(failed(''))
})
