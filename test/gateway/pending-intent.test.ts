import { afterEach, expect, jest, spyOn, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import type { GatewayParts } from '../../src/gateway/base/parts.ts'
import { PendingIntent } from '../../src/gateway/base/pending-intent.ts'
import { StageTimes } from '../../src/gateway/base/stage-times.ts'
import { limits } from '../../src/limits.ts'
import { intentOf } from '../support/commits.ts'

afterEach(() => void jest.restoreAllMocks())

test('a stalled process forwards nothing after its lease, though its clock was set back meanwhile', async () => {
  let wallMs = 1_700_000_000_000
  const parts = { clock: { now: () => wallMs }, passCrashPoint() {} } as unknown as GatewayParts
  const tenant = '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11' as TenantId
  const intent = new PendingIntent(parts, tenant, intentOf(), new StageTimes())
  const startMs = performance.now()
  intent.declare('m1', undefined, async () => {})
  await intent.durable()
  wallMs -= 600_000
  spyOn(performance, 'now').mockReturnValue(startMs + limits.forwardWithinMs + 1_000)
  await expect(intent.durable()).rejects.toMatchObject({ kind: 'unavailable' })
})
