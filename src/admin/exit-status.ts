/** The exit statuses of every verb of `covenant`, in the numbers of sysexits.h, and what a failure prints. */

import { Fault, tellOperator } from '../base/fault.ts'
import { ConfigError } from '../config.ts'
import type { Terminal } from './terminal.ts'

export const exitStatus = {
  done: 0,
  /** Refused, or failed in another way than those below. */
  failed: 1,
  usage: 64,
  /** The service or the database cannot be reached, or does not take requests now. */
  unavailable: 69,
  config: 78,
  /** By Ctrl-C, as shells have it. */
  interrupted: 130,
} as const

/** The last line of each help text. */
export const exitStatusHelp =
  'Exit status: 0 done, 1 refused or failed, 64 wrong usage, 69 service or database not reachable, 78 wrong configuration.'

/** The arguments are wrong; the message says how. */
export class UsageError extends Error {}

/**
 * Tells a failure on standard error, without a stack trace.
 * @param command whose help a wrong usage points to, such as `covenant admin`
 * @returns the exit status
 */
export function reportFailure(
  error: unknown,
  command: string,
  { complain }: Pick<Terminal, 'complain'>,
): number {
  if (error instanceof ConfigError) {
    complain(`The configuration has ${error.problems.length} problem(s):\n${error.message}`)
    return exitStatus.config
  }
  if (error instanceof UsageError || (error instanceof Fault && error.kind === 'bad_request')) {
    complain(`${error.message}\nSee: ${command} --help`)
    return exitStatus.usage
  }
  complain(tellOperator(error))
  return error instanceof Fault && error.kind === 'unavailable' ? exitStatus.unavailable : exitStatus.failed
}
