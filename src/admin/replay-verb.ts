/**
 * `covenant replay`: tries a draft policy on the stored commits of a running service, waits for the end, and ends by
 * what the draft would have denied. It takes the flags of `covenant admin replay start` and starts what that starts.
 */

import { parseArgs } from 'node:util'
import type { ReplayFinding, ReplayOutcome, ReplayState } from '../core/policy-replay.ts'
import type { Client } from './client.ts'
import { type Call, prepareCall } from './command.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { openHttpClient } from './http-client.ts'
import { pagesOf } from './pages.ts'
import { pause } from './pause.ts'
import { replayCommands } from './replay-commands.ts'
import { serviceAddress } from './service-address.ts'
import type { Terminal } from './terminal.ts'

/** How the verb ends, and how long it waits. */
interface Bounds {
  readonly newDenialsMax: number
  /** Undefined: any number, but for all of them. */
  readonly unavailableMax: number | undefined
  readonly timeoutMs: number
  readonly json: boolean
}

interface ShownReplay {
  readonly id: string
  readonly state: ReplayState
  readonly commits: number
  readonly looked_at: number
  readonly counts: Readonly<Partial<Record<ReplayOutcome, number>>>
  readonly problem?: string
}

interface Group {
  readonly outcome: ReplayFinding
  readonly table: { readonly namespace: readonly string[]; readonly name: string }
  readonly committer: string
  readonly reason: string
  readonly commits: number
}

const own = {
  'max-new-denials': { type: 'string' },
  'max-unavailable': { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
} as const

const help = (
  startUsage: string,
) => `Usage: covenant replay ${startUsage.replace('--tenant ID', '[--tenant ID]')}
         [--max-new-denials N] [--max-unavailable N] [--timeout SECONDS] [--json] [--url URL] [--session-file FILE]

Tries a draft policy on stored commits of a running service, and waits for the end. FILE is its text; - is standard
input. Without --file it compares what the policies of then say now with what they said.

  --max-new-denials N   ends with 1 where more accepted commits than N (0 where it is left out) would have been
                        denied, or left without a verdict; without --file, where more verdicts than N differ
  --max-unavailable N   ends with 1 where more commits than N could not be replayed. Left out: where none could
  --timeout SECONDS     ends with 1 where the replay takes longer; it goes on in the service. Left out: 3600
  --json                prints the replay and its summary as JSON

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names. Ctrl-C cancels the replay.
${exitStatusHelp}`

/** Milliseconds between two looks at the replay. */
const pollMs = 1_000

/**
 * Runs the verb. It never throws.
 * @param wait waits between two looks
 * @returns the exit status
 */
export async function replay(
  words: readonly string[],
  terminal: Terminal,
  wait: (signal: AbortSignal) => Promise<void> = (signal) => pause(pollMs, signal),
): Promise<number> {
  const start = replayCommands.find(({ words: name }) => name === 'replay start')
  if (start === undefined) throw new Error('there is no command that starts a replay')
  if (words.includes('--help')) {
    terminal.print(help(start.usage))
    return exitStatus.done
  }
  let signal: AbortSignal | undefined
  try {
    const { bounds, rest } = readBounds(words)
    const call = await prepareCall(['replay', 'start', ...rest], [start], terminal.stdin, true)
    if (call.field !== undefined) throw new UsageError('`replay` takes no --field')
    const address = await serviceAddress(call, terminal.env)
    if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
    signal = terminal.interrupted?.() ?? new AbortController().signal
    return await runReplay(openHttpClient(address), call, bounds, { terminal, signal, wait })
  } catch (error) {
    if (signal?.aborted) {
      terminal.complain('Interrupted. The replay was cancelled.')
      return exitStatus.interrupted
    }
    return reportFailure(error, 'covenant replay', terminal)
  }
}

/** The flags that are this verb's own, and the other words. @throws UsageError */
function readBounds(words: readonly string[]): { readonly bounds: Bounds; readonly rest: readonly string[] } {
  const { values, tokens } = parseArgs({
    ...{ args: [...words], options: own, allowPositionals: true, strict: false, tokens: true },
  })
  const taken = new Set(
    tokens.flatMap((token) => {
      if (token.kind !== 'option' || !(token.name in own)) return []
      return token.value !== undefined && !token.inlineValue ? [token.index, token.index + 1] : [token.index]
    }),
  )
  const number = (name: keyof typeof own) => {
    const value = values[name]
    if (value === undefined) return undefined
    if (typeof value !== 'string' || !/^\d{1,9}$/.test(value))
      throw new UsageError(`--${name} must be a whole number`)
    return Number(value)
  }
  return {
    bounds: {
      newDenialsMax: number('max-new-denials') ?? 0,
      unavailableMax: number('max-unavailable'),
      timeoutMs: (number('timeout') ?? 3_600) * 1_000,
      json: values.json === true,
    },
    rest: words.filter((_, index) => !taken.has(index)),
  }
}

interface Run {
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly wait: (signal: AbortSignal) => Promise<void>
}

async function runReplay(
  client: Client,
  { operation, input }: Call,
  bounds: Bounds,
  run: Run,
): Promise<number> {
  const { terminal } = run
  // The operation under /admin has its like for each of the others.
  const named = (verb: string, what: string) =>
    operation.replace('start_', `${verb}_`).replace('policy_replay', what)
  const within = input.tenant === undefined ? {} : { tenant: input.tenant }
  const started = (await client.run(operation, input)) as ShownReplay
  const at = { ...within, id: started.id }
  const look = async () => (await client.run(named('get', 'policy_replay'), at)) as ShownReplay
  const cancel = async () => void (await client.run(named('cancel', 'policy_replay'), at))
  const ended = await untilEnd(started, { look, cancel }, bounds, run)
  const groups: Group[] = []
  for await (const page of pagesOf(client, named('sum', 'policy_replay'), { ...at, limit: 1_000 }))
    groups.push(...(page as readonly Group[]))
  if (bounds.json) terminal.print(JSON.stringify({ replay: ended, summary: groups }, undefined, 2))
  else terminal.print([...groups.map(groupText), countsText(ended)].join('\n'))
  const problems = problemsOf(ended, bounds)
  for (const problem of problems) terminal.complain(problem)
  return problems.length > 0 ? exitStatus.failed : exitStatus.done
}

/** Follows a replay to its end. @throws Error where it takes too long; the reason of the signal, once it is cancelled */
async function untilEnd(
  started: ShownReplay,
  { look, cancel }: { readonly look: () => Promise<ShownReplay>; readonly cancel: () => Promise<void> },
  { timeoutMs }: Bounds,
  { terminal, signal, wait }: Run,
): Promise<ShownReplay> {
  const until = performance.now() + timeoutMs
  let shown = started
  while (shown.state === 'running') {
    if (performance.now() >= until)
      throw new Error(`The replay ${shown.id} has not ended in time. It goes on in the service.`)
    try {
      await wait(signal)
      signal.throwIfAborted()
    } catch (thrown) {
      await cancel()
      throw thrown
    }
    const next = await look()
    if (next.state === 'running' && next.looked_at > shown.looked_at)
      terminal.complain(`${next.looked_at} of ${next.commits} commits`)
    shown = next
  }
  return shown
}

/** Why the replay does not pass; none where it does. */
function problemsOf({ state, commits, counts, problem }: ShownReplay, bounds: Bounds): readonly string[] {
  if (state !== 'done') return [`The replay was ${state}${problem === undefined ? '' : `: ${problem}`}.`]
  const { newDenialsMax, unavailableMax = Math.max(commits - 1, 0) } = bounds
  const { newly_denied: denied = 0, no_verdict: unjudged = 0, differs = 0, unavailable = 0 } = counts
  const found = denied + unjudged + differs
  return [
    ...(found > newDenialsMax
      ? [`${found} commit(s) would be denied, left without a verdict or differ; ${newDenialsMax} may.`]
      : []),
    ...(unavailable > unavailableMax
      ? [`${unavailable} of ${commits} commit(s) could not be replayed; ${unavailableMax} may.`]
      : []),
  ]
}

function groupText({ outcome, table, committer, reason, commits }: Group): string {
  const name = [...table.namespace, table.name].filter((part) => part !== '').join('.')
  return `${outcome.padEnd(14)}${String(commits).padStart(6)}  ${committer}  ${name}: ${reason}`
}

function countsText({ commits, counts }: ShownReplay): string {
  const parts = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`)
  return `${commits} commit(s)${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`
}
