/**
 * Brings a service to what a folder of settings says, one request after the other, and writes the secrets that are shown
 * once into files. A run that fails leaves what it has done; applying again goes on.
 */

import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../base/fault.ts'
import { UsageError } from '../exit-status.ts'
import type { AskFor, PlannedSetting, SettingsPlan } from './desired-plan.ts'
import type { Ask, Step } from './kind.ts'

export interface ApplyOptions {
  /** Where secrets are written that are shown once. */
  readonly secrets: string | undefined
  readonly tell: (text: string) => void
}

const done = { add: 'added', change: 'changed', remove: 'removed', none: '' } as const

/**
 * Applies a plan without problems.
 * @returns what was done, by place
 * @throws UsageError before the first request where a secret would have no place; Fault of the service
 */
export async function applySettings(
  askFor: AskFor,
  { settings, tenants }: SettingsPlan,
  { secrets, tell }: ApplyOptions,
): Promise<readonly { readonly at: string; readonly outcome: string }[]> {
  const changed = settings.filter(({ action }) => action !== 'none')
  const withSecret = changed.find(({ showsSecret }) => showsSecret)
  if (withSecret !== undefined && secrets === undefined)
    throw new UsageError(
      `${withSecret.at} is made with a secret that is shown once; name a folder for it with --secrets`,
    )
  const ids = new Map(tenants)
  const outcomes: { readonly at: string; readonly outcome: string }[] = []
  for (const one of changed) {
    const ask = askFor(one.side, one.tenant === undefined ? undefined : ids.get(one.tenant))
    const output = await applyOne(ask, one, secrets).catch((thrown) => {
      throw atPlace(thrown, one.at, outcomes.length)
    })
    if (one.side === 'installation' && one.action === 'add')
      ids.set(one.at.slice('tenants/'.length), (output as { readonly id: string }).id)
    tell(`${one.at} is ${done[one.action]}`)
    outcomes.push({ at: one.at, outcome: done[one.action] })
  }
  return outcomes
}

/** What was refused, and what of the plan was done before. */
function atPlace(thrown: unknown, at: string, count: number): unknown {
  const before = count === 0 ? 'Nothing was applied.' : `${count} before it are applied.`
  if (thrown instanceof Fault) {
    const { kind, publicMessage: message } = thrown
    // What the service refuses is no wrong usage of the command.
    return new Fault(kind === 'bad_request' ? 'unprocessable' : kind, `${at}: ${message} ${before}`)
  }
  if (thrown instanceof UsageError || !(thrown instanceof Error)) return thrown
  return new Error(`${at}: ${thrown.message} ${before}`, { cause: thrown })
}

async function applyOne(ask: Ask, planned: PlannedSetting, secrets: string | undefined): Promise<unknown> {
  if (!planned.showsSecret || secrets === undefined) return await runSteps(ask, planned.steps)
  return await withSecretFile(secrets, planned.at, (write) => runSteps(ask, planned.steps, write))
}

/**
 * @param onFirst what is done with the answer of the first step, before the second
 * @returns that answer
 */
async function runSteps(
  ask: Ask,
  steps: readonly Step[],
  onFirst: (output: unknown) => Promise<void> = async () => {},
): Promise<unknown> {
  let first: unknown
  for (const [index, step] of steps.entries()) {
    const output = await ask.run(step.operation, step.input)
    if (index === 0) {
      first = output
      await onFirst(output)
    }
    const problem = step.problem?.(output)
    if (problem !== undefined) throw new Error(problem)
    await runSteps(ask, step.next?.(output) ?? [])
  }
  return first
}

/** Makes the file before the secret, so that no secret is made that cannot be written. */
async function withSecretFile(
  folder: string,
  at: string,
  make: (write: (output: unknown) => Promise<void>) => Promise<unknown>,
): Promise<unknown> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, encodeURIComponent(at.replaceAll('/', '.')))
  const file = await open(path, 'wx', 0o600).catch(() => {
    throw new UsageError(`${path} is there already, or cannot be written; move it away`)
  })
  let isWritten = false
  try {
    return await make(async (output) => {
      isWritten = true
      await file.write(`${(output as { readonly secret: string }).secret}\n`)
      await file.sync()
    })
  } catch (thrown) {
    if (!isWritten) await rm(path, { force: true })
    throw thrown
  } finally {
    await file.close()
  }
}
