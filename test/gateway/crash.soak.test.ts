import { expect, test } from 'bun:test'
import { UnsecuredJWT } from 'jose'
import { appendSnapshot, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import { expectAuditTrue } from '../support/audit-truth.ts'
import { type Child, type CrashHarness, crashHarness } from '../support/crash-harness.ts'
import { eventually } from '../support/eventually.ts'
import { generator } from '../support/generator.ts'
import { isLongForm } from '../support/long-form.ts'

/** `npm test` kills once, `test:walks` twice; `test:soak` as often as its time allows, two hundred times in about ten minutes. */
const soakMs = Number(process.env.SVC_TEST_SOAK_SECONDS ?? 0) * 1000
const killsMin = soakMs > 0 || isLongForm ? 2 : 1
const seed = Number(process.env.SVC_TEST_SEED ?? 20_260_101)
const writers = 4

interface Writing {
  stopped: boolean
  /** Commits that the service acknowledged since its start. */
  acknowledged: number
  sequence: number
  head: bigint | undefined
}

/** One writer: appends and sets properties until it is told to stop, whatever the answers are. */
async function write(harness: CrashHarness, child: Child, shared: Writing, name: string): Promise<void> {
  while (!shared.stopped) {
    const number = ++shared.sequence
    const append = number % 2 === 0
    const snapshotId = firstSnapshotId + BigInt(number)
    const body = append
      ? appendSnapshot({ snapshotId, parentId: shared.head, sequenceNumber: number, timestampMs: Date.now() })
      : setProperties({ [`written-${number}`]: name })
    try {
      const response = await fetch(
        new URL('/v1/iceberg/main/namespaces/sales/tables/orders', child.ready.url),
        {
          method: 'POST',
          body,
          headers: {
            'x-svc-session': harness.owner().secret,
            authorization: `Bearer ${new UnsecuredJWT({ sub: name }).encode()}`,
          },
        },
      )
      const text = await response.text()
      if (response.ok) shared.acknowledged++
      if (append && response.ok) shared.head = snapshotId
      else if (append) shared.head = await harness.currentSnapshotId()
      expect([200, 409, 502, 503], text).toContain(response.status)
    } catch (error) {
      if (shared.stopped) return
      if (error instanceof TypeError || (error as { code?: string }).code !== undefined) await Bun.sleep(1)
      else throw error
    }
  }
}

test(`every accepted commit is audited exactly once after kills at random moments under load (seed ${seed})`, async () => {
  const random = generator(seed)
  await using harness = await crashHarness({}, { isReadable: true })
  const shared: Writing = { stopped: false, acknowledged: 0, sequence: 0, head: undefined }
  const untilMs = performance.now() + soakMs
  let kills = 0
  while (kills < killsMin || performance.now() < untilMs) {
    const child = await harness.start()
    shared.stopped = false
    shared.acknowledged = 0
    shared.head = await harness.currentSnapshotId()
    const writing = Array.from({ length: writers }, (_, index) =>
      write(harness, child, shared, `writer-${index}`),
    )
    const killAfter = 1 + Math.floor(random() * 20)
    await eventually(async () => shared.acknowledged >= killAfter)
    await Bun.sleep(random() * 50)
    shared.stopped = true
    child.process.kill('SIGKILL')
    await child.process.exited
    await Promise.all(writing)
    kills++
  }
  const report = await harness.settle()
  const accepted = await harness.accepted()
  console.log(`seed ${seed}: ${kills} kills, ${accepted.length} accepted commits`)
  expect(accepted.length).toBeGreaterThan(0)
  expectAuditTrue(report, accepted)
})
