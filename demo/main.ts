/** `npm run demo`: runs governed commits and queries, announces each, and checks it. Exits with 1 if one differs. */

import { parseArgs } from 'node:util'
import { countIntents } from '../src/store/commit/commit-intents.ts'
import { checkStep } from './check-step.ts'
import { announce, announceRead, invite, show, showFile, showRead, summary } from './print.ts'
import { checkFile, governWriting, protectSteps, rowsInFile } from './protect-steps.ts'
import { governReading, readSteps } from './read-steps.ts'
import { checkReadStep, runReadStep } from './run-read-step.ts'
import { runStep } from './run-step.ts'
import { demoSteps, governOrders } from './steps.ts'
import { startWorld, type World } from './world.ts'

const help = `Shows the service at work: real commits over HTTP and real queries over the PostgreSQL wire (by psql where it
is installed), on free loopback ports and a temporary directory.

Usage: npm run demo [-- --keep]

  --keep   leave everything running afterwards, and print commits and queries to try
  --help   this text

Exit status: 0 everything as announced, 1 something was not or it was interrupted, 64 wrong usage.`

const exitUsage = 64

function readArguments(): { readonly keep?: boolean; readonly help?: boolean } {
  try {
    return parseArgs({ options: { keep: { type: 'boolean' }, help: { type: 'boolean' } } }).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${help}`)
    process.exit(exitUsage)
  }
}

/** @returns the number of differences, or undefined if it was interrupted before the last step */
async function walk(world: World, interrupted: AbortSignal): Promise<number | undefined> {
  const steps = demoSteps(world, Date.now())
  let problemCount = 0
  for (const [index, step] of steps.entries()) {
    if (interrupted.aborted) return undefined
    announce(index + 1, step)
    const seen = await runStep(world, step)
    const problems = checkStep(step.expected, seen)
    show(step, seen, problems)
    problemCount += problems.length
  }
  await governReading(world)
  for (const [index, step] of readSteps.entries()) {
    if (interrupted.aborted) return undefined
    announceRead(steps.length + index + 1, step)
    const seen = await runReadStep(world, step)
    const problems = checkReadStep(step, seen)
    showRead(world, step, seen, problems)
    problemCount += problems.length
  }
  await governWriting(world)
  const protecting = await protectSteps(world, Date.now())
  for (const [index, step] of protecting.entries()) {
    if (interrupted.aborted) return undefined
    announce(steps.length + readSteps.length + index + 1, step)
    const seen = await runStep(world, step)
    const problems = [
      ...checkStep(step.expected, seen),
      ...(step.file === undefined ? [] : await checkFile(step.file)),
    ]
    if (step.file !== undefined) showFile(await rowsInFile(step.file))
    show(step, seen, problems)
    problemCount += problems.length
  }
  const { open } = await countIntents(world.store)
  if (open !== 0) {
    problemCount++
    console.log(`\n${open} commit intents were left open.`)
  }
  console.log(`\n${summary(steps.length + readSteps.length + protecting.length, problemCount)}`)
  return problemCount
}

const given = readArguments()
if (given.help) {
  console.log(help)
  process.exit(0)
}

const interrupt = new AbortController()
const interrupted = new Promise<void>((resolve) =>
  interrupt.signal.addEventListener('abort', () => resolve()),
)
process.on('SIGINT', () => interrupt.abort())
process.on('SIGTERM', () => interrupt.abort())

console.log('Starting: embedded store, two development catalogs, the service …')
let problemCount: number | undefined
{
  await using world = await startWorld()
  console.log(
    `The gateway is at ${world.app.url.href}, the PostgreSQL wire at port ${world.app.pgwirePort}, metrics at ${world.app.metricsUrl.href}`,
  )
  await governOrders(world)
  problemCount = await walk(world, interrupt.signal)
  if (given.keep && !interrupt.signal.aborted) {
    invite(world)
    await interrupted
  }
}
if (interrupt.signal.aborted) console.log('\nStopped.')
process.exit(problemCount === 0 ? 0 : 1)
