/** Follows versions of contracts until they are in force: deploys what is approved, where it is asked to, and waits. */

import { pause } from '../pause.ts'
import type { ContractService, ShownVersion } from './contract-service.ts'
import { needs } from './print-plan.ts'

interface Following {
  readonly deploy: boolean
  readonly wait: boolean
  readonly timeoutMs: number
  readonly pollMs: number
  readonly signal: AbortSignal
  /** Tells how far a version has come. */
  readonly tell: (text: string) => void
}

const ended = ['rejected', 'withdrawn', 'failed', 'retired']

/**
 * Follows versions.
 * @returns the versions as they are at the end
 * @throws Error where one has ended otherwise, or the time is over; the reason of the signal; Fault of the service
 */
export async function followVersions(
  service: ContractService,
  versions: readonly ShownVersion[],
  following: Following,
): Promise<readonly ShownVersion[]> {
  const { wait, timeoutMs, pollMs, signal, tell } = following
  const now = new Map(versions.map((one) => [one.id, one]))
  for (const one of versions) tell(progressOf(one))
  const until = performance.now() + timeoutMs
  for (;;) {
    for (const one of now.values()) await advance(service, one, following, now)
    const open = [...now.values()].filter(({ state }) => state !== 'active')
    const failed = open.filter(({ state }) => ended.includes(state))
    if (failed.length > 0) throw new Error(failed.map(progressOf).join('\n'))
    if (!wait || open.length === 0) return [...now.values()]
    if (performance.now() >= until) throw new Error(`Not in force yet: ${open.map(progressOf).join('; ')}`)
    await pause(pollMs, signal)
    for (const { id, number, state } of open) {
      const shown = await service.version(id, number)
      now.set(id, shown)
      if (shown.state !== state) tell(progressOf(shown))
    }
  }
}

async function advance(
  service: ContractService,
  one: ShownVersion,
  { deploy, tell }: Following,
  now: Map<string, ShownVersion>,
): Promise<void> {
  if (!deploy || one.state !== 'approved') return
  const moved = await service.deploy(one.id, one.number)
  now.set(one.id, moved)
  tell(progressOf(moved))
}

/** Where a version stands, in one line. */
function progressOf({ id, version, state, waits_for: signOffs }: ShownVersion): string {
  const waits = signOffs.length > 0 ? `, ${needs(signOffs)}` : ''
  return `${id} ${version} is ${state}${waits}`
}
