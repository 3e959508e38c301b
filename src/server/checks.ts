/** Runs the checks behind the probes so that a probe answers in time and costs little, whatever the database does. */

import { Fault, toFault } from '../base/fault.ts'

/** @throws Fault where the check fails */
export type Check = () => Promise<void>

/**
 * A check that fails after `withinMs`. What it waits for goes on, and later probes wait for the same, so that a database
 * that hangs has one connection of the probes at most.
 */
export function bounded(check: Check, withinMs: number): Check {
  let underWay: Promise<void> | undefined
  return async () => {
    underWay ??= check().finally(() => {
      underWay = undefined
    })
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(new Fault('unavailable', 'The check took too long.')),
      withinMs,
    )
    await Promise.race([underWay, late.promise]).finally(() => clearTimeout(timer))
  }
}

/** A check whose outcome holds for `forMs`. */
export function remembered(check: Check, forMs: number, nowMs = () => performance.now()): Check {
  let outcome: Promise<void> | undefined
  let untilMs = 0
  return () => {
    if (outcome === undefined || nowMs() >= untilMs) {
      outcome = check()
      untilMs = nowMs() + forMs
    }
    return outcome
  }
}

/** Whether a check passes. Each change is reported once: the fault when it begins to fail, then its recovery. */
export function reported(check: Check, onChange: (fault: Fault | undefined) => void): () => Promise<boolean> {
  let passed = true
  return async () => {
    const fault = await check().then(() => undefined, toFault)
    if (passed !== (fault === undefined)) {
      passed = fault === undefined
      onChange(fault)
    }
    return fault === undefined
  }
}
