/** Runs the command `bun run bench`: parses its arguments, runs the entries, and prints their results. */

import { parseArgs } from 'node:util'
import { adminCommand } from './admin-command.ts'
import { catalogTimes } from './catalog-times.ts'
import { daxVisual } from './dax-visual.ts'
import { detectionClassify } from './detection-classify.ts'
import { detectionQuality } from './detection-quality.ts'
import { detectionSampling } from './detection-sampling.ts'
import { detectionScan } from './detection-scan.ts'
import { type BenchEntry, BenchFlags, type BenchOption, type BenchResult, BenchUsageError } from './entry.ts'
import { flood } from './flood.ts'
import { gatewayCommit } from './gateway-commit.ts'
import { gatewayMemory } from './gateway-memory.ts'
import { gatewayThroughput } from './gateway-throughput.ts'
import { graphTraverse } from './graph-traverse.ts'
import { graphql } from './graphql.ts'
import { growth } from './growth.ts'
import { inLists } from './in-lists.ts'
import { lineageBatch } from './lineage-batch.ts'
import { lineageIngest } from './lineage-ingest.ts'
import { mcp } from './mcp.ts'
import { metricQuery } from './metric-query.ts'
import { move } from './move.ts'
import { pgwireIdle } from './pgwire-idle.ts'
import { pgwireLatency } from './pgwire-latency.ts'
import { pgwireStream } from './pgwire-stream.ts'
import { policyEval } from './policy-eval.ts'
import { policyReplay } from './policy-replay.ts'
import { qualityScan } from './quality-scan.ts'
import { queryCompile } from './query-compile.ts'
import { queryScan } from './query-scan.ts'
import { reconciliation } from './reconciliation.ts'
import { soak } from './soak.ts'
import { storeTransactions } from './store-transactions.ts'
import { markdownTable, resultTable } from './table.ts'
import { territoryCheck } from './territory-check.ts'
import { territoryRead } from './territory-read.ts'
import { tracing } from './tracing.ts'
import { transactionsInStep } from './transactions-in-step.ts'
import { transform } from './transform.ts'
import { vending } from './vending.ts'
import { xmlaPivot } from './xmla-pivot.ts'

const entries: readonly BenchEntry[] = [
  gatewayCommit,
  gatewayThroughput,
  gatewayMemory,
  tracing,
  catalogTimes,
  storeTransactions,
  policyEval,
  policyReplay,
  graphTraverse,
  lineageIngest,
  lineageBatch,
  queryCompile,
  inLists,
  qualityScan,
  reconciliation,
  queryScan,
  metricQuery,
  xmlaPivot,
  daxVisual,
  pgwireLatency,
  pgwireStream,
  pgwireIdle,
  detectionScan,
  detectionSampling,
  detectionQuality,
  detectionClassify,
  territoryCheck,
  transform,
  territoryRead,
  vending,
  mcp,
  graphql,
  growth,
  soak,
  transactionsInStep,
  adminCommand,
  flood,
  move,
]

const commonOptions: Readonly<Record<string, BenchOption>> = {
  json: { type: 'boolean', about: 'one JSON line for each result, nothing else on standard output' },
  markdown: { type: 'boolean', about: 'tables in Markdown' },
  smoke: {
    type: 'boolean',
    about: 'everything once and tiny, in seconds: shows that it works, measures nothing',
  },
  full: { type: 'boolean', about: 'every case, not the bounded default' },
  seed: { type: 'string', value: 'N', about: 'seed of orders, graphs and resampling (default 1)' },
  help: { type: 'boolean', about: 'this text' },
}

const exitUsage = 64

function helpText(): string {
  const lines = (options: Readonly<Record<string, BenchOption>>) =>
    Object.entries(options).map(
      ([name, { value, about }]) =>
        `  ${`--${name}${value === undefined ? '' : ` ${value}`}`.padEnd(32)} ${about}`,
    )
  const parts = entries.flatMap(({ name, about, options }) => ['', `${name}: ${about}`, ...lines(options)])
  return [
    'Usage: bun run bench [entry…] [options]',
    '',
    `Entries: ${entries.map(({ name }) => name).join(', ')}; \`${every}\` for all of them. See docs/performance.md.`,
    `Without a name, ${gatewayCommit.name} says in five minutes whether the contract is kept, and where not.`,
    '',
    ...lines(commonOptions),
    ...parts,
  ].join('\n')
}

interface Command {
  readonly chosen: readonly BenchEntry[]
  readonly values: Readonly<Record<string, string | boolean | undefined>>
}

/** @throws BenchUsageError */
function readCommand(args: readonly string[]): Command {
  const known = Object.assign({}, commonOptions, ...entries.map(({ options }) => options)) as Record<
    string,
    BenchOption
  >
  let parsed: { values: Record<string, unknown>; positionals: string[] }
  try {
    parsed = parseArgs({
      args: [...args],
      options: Object.fromEntries(Object.entries(known).map(([name, { type }]) => [name, { type }])),
      allowPositionals: true,
    })
  } catch (error) {
    // The rest explains how to pass a file name that looks like an option.
    const message = error instanceof Error ? error.message : String(error)
    throw new BenchUsageError(`${message.split('. ')[0]}.`)
  }
  const names = parsed.positionals.includes(every)
    ? entries.map(({ name }) => name)
    : parsed.positionals.length > 0
      ? parsed.positionals
      : unnamed(parsed.values)
  const chosen = names.map((name) => {
    const entry = entries.find((one) => one.name === name)
    if (entry === undefined)
      throw new BenchUsageError(
        `There is no benchmark \`${name}\`. There are: ${entries.map((one) => one.name).join(', ')}.`,
      )
    return entry
  })
  const running = [...new Set(chosen)]
  for (const name of Object.keys(parsed.values))
    if (!(name in commonOptions) && !running.some(({ options }) => name in options))
      throw new BenchUsageError(`--${name} is not an option of ${running.map((one) => one.name).join(', ')}.`)
  return { chosen: running, values: parsed.values as Command['values'] }
}

/** Runs every entry. */
const every = 'all'

/** What runs where nothing is named. A smoke shows that everything works, and the help tells of everything. */
function unnamed({ smoke, help }: Record<string, unknown>): readonly string[] {
  return smoke === true || help === true ? entries.map(({ name }) => name) : [gatewayCommit.name]
}

/** Where the lines of a command are printed. */
export interface BenchOutput {
  /** Results. */
  readonly out: (line: string) => void
  /** Progress and errors, for a person. */
  readonly err: (line: string) => void
}

/** Runs one command. @returns its exit code */
export async function benchCommand(args: readonly string[], output: BenchOutput): Promise<number> {
  try {
    return await runEntries(readCommand(args), output)
  } catch (error) {
    if (!(error instanceof BenchUsageError)) throw error
    output.err(`${error.message}\nTry --help.`)
    return exitUsage
  }
}

async function runEntries({ chosen, values }: Command, { out, err }: BenchOutput): Promise<number> {
  if (values.help === true) {
    out(helpText())
    return 0
  }
  const flags = new BenchFlags(values)
  const json = values.json === true
  const smoke = values.smoke === true
  const full = values.full === true
  if (smoke && full) throw new BenchUsageError('--smoke and --full exclude each other.')
  const run = {
    smoke,
    full,
    seed: flags.number('seed', 0, 2 ** 32 - 1) ?? 1,
    flags,
    note: err,
  }
  let failed = false
  for (const entry of chosen) {
    const results: BenchResult[] = []
    for await (const result of entry.run(run)) {
      results.push(result)
      if (json) out(jsonLine(result))
      else run.note(`  ${entry.name} ${Object.values(result.case).join(' ')}: done`)
    }
    const table = values.markdown === true ? markdownTable(results) : resultTable(entry.name, results)
    if (!json) out(`\n${table}`)
    const conclusion = entry.conclude?.(results)
    if (conclusion === undefined || smoke) continue
    if (json) run.note(conclusion.line)
    else out(conclusion.line)
    failed ||= conclusion.failed
  }
  return failed ? 1 : 0
}

function jsonLine({ bench, case: measured, figures, verdict }: BenchResult): string {
  return JSON.stringify({ bench, case: measured, ...figures, ...(verdict === undefined ? {} : { verdict }) })
}
