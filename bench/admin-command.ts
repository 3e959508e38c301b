/** Measures calls of `covenant admin session list` over HTTP, each a process of its own, against a running service. */

import { startIdentityService } from '../test/support/identity.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { percentile } from './statistics.ts'

export const adminCommand: BenchEntry = {
  name: 'admin-command',
  about: 'a command of the operator over HTTP, from the start of its process to its end',
  options: {},
  run,
}

const words = ['src/main.ts', 'admin', 'session', 'list']

async function* run({ smoke }: BenchRun): AsyncGenerator<BenchResult> {
  await using service = await startIdentityService()
  const { owner, operator, app } = service
  const call = async () => {
    const startedMs = performance.now()
    const child = Bun.spawn([process.execPath, ...words, '--tenant', owner.tenant], {
      cwd: `${import.meta.dir}/..`,
      env: { PATH: process.env.PATH ?? '', COVENANT_URL: app.url.origin, COVENANT_SESSION: operator },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    if ((await child.exited) !== 0 || !out.includes('"id"'))
      throw new Error(`session list ended with ${child.exitCode}: ${out}${err}`)
    return performance.now() - startedMs
  }
  // The first one compiles what the service answers it with.
  await call()
  const times: number[] = []
  for (let left = smoke ? 2 : 10; left > 0; left--) times.push(await call())
  yield {
    bench: 'admin-command',
    case: { command: 'session list', calls: times.length },
    figures: {
      p50_ms: Math.round(percentile(times, 0.5)),
      slowest_ms: Math.round(Math.max(...times)),
    },
  }
}
