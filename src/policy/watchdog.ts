/**
 * Cuts off a synchronous call after a timeout. `vm` is the only way to stop JavaScript that runs on the same thread. It
 * interrupts host functions too, but not native code, so no native call under it may take long.
 */

import vm from 'node:vm'

const context = vm.createContext({ job: undefined })
const script = new vm.Script('job()')

/** Thrown by `watched`. `finally` and `catch` blocks of the job did not run. */
export class WatchdogTimeout extends Error {
  override readonly name = 'WatchdogTimeout'
}

/**
 * Runs `job` and returns its value, or cuts it off. State that `job` was changing may then be corrupt. Never nested.
 *
 * @param timeoutMs whole milliseconds, at least 1
 * @throws WatchdogTimeout, and what `job` throws
 */
export function watched<T>(job: () => T, timeoutMs: number): T {
  context.job = job
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as T
  } catch (thrown) {
    if ((thrown as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new WatchdogTimeout(`cut off after ${timeoutMs} ms`)
    throw thrown
  } finally {
    context.job = undefined
  }
}

/** Tries before a job is given up that got no processor time. */
const attemptsMax = 10

/**
 * Runs `job`, which must have no effects, until it has used `cpuMs` of this thread's processor time. A process that is
 * stopped or starved runs the job again, because its clock went on without it.
 *
 * @param cpuMs whole milliseconds, at least 1
 * @throws WatchdogTimeout; what `job` throws passes through
 */
export function watchedCpu<T>(job: () => T, cpuMs: number): T {
  const startedMs = threadCpuMs()
  for (let attempt = 1; ; attempt++) {
    try {
      return watched(job, cpuMs)
    } catch (thrown) {
      if (!(thrown instanceof WatchdogTimeout) || attempt === attemptsMax) throw thrown
      if (threadCpuMs() - startedMs >= cpuMs) throw thrown
    }
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
