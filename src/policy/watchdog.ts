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
