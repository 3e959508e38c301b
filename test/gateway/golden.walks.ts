/**
 * A recorded set of requests to every route under /v1/iceberg gives the recorded outcome: status, headers, body, calls
 * of store and upstream, audit and metrics. `SVC_RECORD_ANSWERS=1` records it again for an intended change.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { goldenOutcomes } from './golden/outcomes.ts'
import { type Recorder, startRecorder } from './golden/recorder.ts'
import { goldenRoutes } from './golden/routes.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

const file = Bun.file(new URL('./golden/answers.txt', import.meta.url))
const records = process.env.SVC_RECORD_ANSWERS === '1'

const recorded = new Map<string, string[]>()
let recorder: Recorder
beforeAll(async () => {
  recorder = await startRecorder()
  for (const section of (await file.text()).split('\n\n')) {
    const [title = '', ...lines] = section.trim().split('\n')
    recorded.set(title, lines)
  }
})
afterAll(async () => {
  if (records)
    await file.write([...recorded].map(([title, lines]) => `${[title, ...lines].join('\n')}\n`).join('\n'))
  await recorder[Symbol.asyncDispose]()
})

test.each(goldenRoutes.map((route) => [route.id, route] as const))(
  '%s answers as recorded',
  async (id, route) => {
    const title = `${id}: ${route.method} ${route.path('{namespace}')}`
    const lines: string[] = []
    for (const outcome of goldenOutcomes)
      if (outcome.fits?.(route) ?? true) lines.push(await recorder.record(route, outcome))
    if (records) recorded.set(title, lines)
    expect(lines).toEqual(recorded.get(title) ?? [])
  },
)
