/** Prints the demo's steps on the terminal, in colour if the terminal and the user allow it (no-color.org). */

import type { Expectation, Observation } from './check-step.ts'
import { metadataLocationOf } from './check-step.ts'
import { psqlCommand } from './psql.ts'
import { type ReadStep, readSteps } from './read-steps.ts'
import type { ReadObservation } from './run-read-step.ts'
import type { Step } from './steps.ts'
import { commitHeaders, commitPath, type World } from './world.ts'

const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR
const paint = (code: number) => (text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)
const [bold, red, green, dim] = [paint(1), paint(31), paint(32), paint(2)]

const widthMax = 160

function clip(text: string): string {
  return text.length <= widthMax ? text : `${text.slice(0, widthMax)}… (${text.length} characters)`
}

function line(name: string, text: string): void {
  console.log(`   ${dim(name.padEnd(8))} ${text}`)
}

/** Prints what a commit must lead to, before it is sent. */
export function announce(number: number, step: Step): void {
  console.log(`\n${bold(`${number}. ${step.title}`)}`)
  line('must be', `${describe(step.expected)}: ${step.because}`)
}

/** Prints what a query must return, before it is sent. */
export function announceRead(number: number, step: ReadStep): void {
  const { rowsOut } = step.usage
  console.log(`\n${bold(`${number}. ${step.title}`)}`)
  line('must be', `${rowsOut} ${rowsOut === 1 ? 'row' : 'rows'}: ${step.because}`)
}

function describe({ status, audit }: Expectation): string {
  return `${status}, ${audit === undefined ? 'no audit row' : `an audit row ${audit.decision}`}`
}

/** Prints what was sent, what came back, and whether that was expected. */
export function show(step: Step, seen: Observation, problems: readonly string[]): void {
  const { sub, roles } = step.writer
  line('sent', `POST ${step.path}`)
  line('', dim(clip(step.body)))
  line('by', `${sub} (${roles.join(', ')}) of ${step.tenant}`)
  line('got', `${seen.status} ${clip(metadataLocationOf(seen.body) ?? seen.body)}`)
  if (seen.audit.length === 0) line('audit', 'no row')
  for (const row of seen.audit)
    line(
      'audit',
      `${row.decision} ${row.commitId} by ${row.committer} (${row.principalSource}) ${row.reason}`.trimEnd(),
    )
  const risen = Object.entries(seen.rejected).filter(([, by]) => by !== 0)
  line(
    'metrics',
    risen.map(([reason, by]) => `commit_rejected_total{reason="${reason}"} +${by}`).join(', ') ||
      'commit_rejected_total unchanged',
  )
  line('catalog', seen.forwarded === 0 ? 'saw no commit' : `was asked for ${seen.forwarded} commit`)
  showVerdict(problems)
}

/** Prints what lies in the Parquet file of a commit, a row on each line. */
export function showFile(rows: readonly string[]): void {
  for (const [index, row] of rows.entries()) line(index === 0 ? 'in file' : '', row)
}

/** Prints the command line, its output, the usage record, and whether they were expected. */
export function showRead(
  { readers }: World,
  step: ReadStep,
  seen: ReadObservation,
  problems: readonly string[],
): void {
  line('sent', psqlCommand(readers[step.reader], step.statement))
  console.log(`\n${seen.printed.trimEnd()}\n`)
  for (const { principal, outcome, rowsOut, policies } of seen.usage)
    line('usage', `${principal} ${outcome}, ${rowsOut} out, policies ${policies.join(', ') || 'none'}`)
  showVerdict(problems)
}

function showVerdict(problems: readonly string[]): void {
  if (problems.length === 0) line('', green('as announced'))
  for (const problem of problems) line('', red(`NOT AS ANNOUNCED: ${problem}`))
}

/** @returns the outcome of the whole run in one line */
export function summary(stepCount: number, problemCount: number): string {
  const text = `${stepCount} steps, ${problemCount === 0 ? 'all as announced' : `${problemCount} differences`}.`
  return bold(problemCount === 0 ? green(text) : red(text))
}

/** Prints what to try by hand while the demo keeps running. */
export function invite(world: World): void {
  const writer = { sub: 'you', roles: ['orders-writer'] }
  const headers = Object.entries(commitHeaders(world.acme, writer)).map(
    ([name, value]) => `-H '${name}: ${value}'`,
  )
  const url = new URL(commitPath('main'), world.app.url).href
  const body = '{"requirements":[],"updates":[{"action":"set-properties","updates":{"owner":"you"}}]}'
  const commands = new Set(
    readSteps.map(({ reader, statement }) => psqlCommand(world.readers[reader], statement)),
  )
  console.log(`
${bold('Still running. Try:')}

curl -i ${url} \\
  ${headers.join(' \\\n  ')} \\
  -d '${body}'

${[...commands].join('\n')}

curl -s ${new URL('/readyz', world.app.url).href}
curl -s ${new URL('/metrics', world.app.metricsUrl).href} | grep commit_rejected_total

The log is in ${world.logFile}. Stop with Ctrl-C.`)
}
