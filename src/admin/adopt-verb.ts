/**
 * `covenant adopt`: walks what a catalog has, and proposes a contract document for every table without a contract, as a
 * file of a folder or as a draft on the service. It holds one page of tables at a time; a second run goes on where the
 * first one ended, because it leaves out what has a contract, a draft or a file.
 */

import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault, tellOperator } from '../base/fault.ts'
import { inParallel } from '../base/in-parallel.ts'
import { contractIdOf } from '../contract/adopt/contract-id.ts'
import { adoptOperations } from '../contract/adopt/operations.ts'
import { gitOperations } from '../contract/git/operations.ts'
import { lifeCycleOperations } from '../contract/lifecycle/operations.ts'
import type { Operation } from '../core/operation.ts'
import { type TableRef, tableName } from '../core/table-ref.ts'
import { writeWhole } from './contracts/plan-file.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { findsOperation } from './find-operation.ts'
import { openHttpClient } from './http-client.ts'
import { type ListedPage, listedPages } from './pages.ts'
import { parseWords } from './parse-words.ts'
import { serviceAddress } from './service-address.ts'
import type { Terminal } from './terminal.ts'

interface Arguments {
  readonly catalog: string
  /** Only it and those below it. */
  readonly namespace: readonly string[] | undefined
  readonly dryRun: boolean
  /** Undefined: drafts on the service. */
  readonly folder: string | undefined
  readonly url: string | undefined
  readonly sessionFile: string | undefined
}

/** What was done so far. */
interface Counts {
  tables: number
  underContract: number
  present: number
  proposed: number
  masks: number
  failed: number
  unusable: number
}

const options = {
  namespace: { type: 'string' },
  'dry-run': { type: 'boolean' },
  to: { type: 'string' },
  drafts: { type: 'boolean' },
  url: { type: 'string' },
  'session-file': { type: 'string' },
} as const

const help = `Usage: covenant adopt CATALOG [--namespace NAMESPACE] [--dry-run] [--to FOLDER | --drafts] [--url URL]
                      [--session-file FILE]

Lists the tables of a catalog that have no contract, and proposes a document for each: columns with types, comments and
keys, the tags that they carry, and the masks that the tenant has for these tags. It puts nothing in force. Tables that
have a contract, a draft or a file already are left out, so a second run goes on where the first one ended.

  CATALOG               the nickname of its credential
  --namespace NAMESPACE only this namespace and those below it; levels by dots
  --dry-run             lists the tables, and writes nothing
  --to FOLDER           writes FOLDER/<namespace>/<table>.odcs.yaml; default: contracts
  --drafts              adds the documents as drafts on the service, which govern nothing

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names; it takes the role steward or administrator, and for --drafts the scope
admin. How far it is goes to standard error.
${exitStatusHelp} 130 interrupted.`

/** Tables of one page, and how many of them are proposed at once. */
const pageSize = 500
const proposalsAtOnce = 4
/** Milliseconds for one request: a catalog may take its time for a listing. */
const requestMs = 120_000

const named = findsOperation([
  ...adoptOperations,
  ...gitOperations,
  ...lifeCycleOperations,
] as readonly Operation[])

/** Runs the verb. It never throws. @returns the exit status */
export async function adopt(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  let signal: AbortSignal | undefined
  try {
    const args = readArguments(words)
    const address = await serviceAddress(args, terminal.env)
    if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
    signal = terminal.interrupted?.() ?? new AbortController().signal
    const client = openHttpClient(address, { named, signal, requestMs })
    return await adoptAll({ args, terminal, signal, client })
  } catch (error) {
    if (signal?.aborted) {
      terminal.complain('Interrupted. What was proposed stays; run it again to go on.')
      return exitStatus.interrupted
    }
    return reportFailure(error, 'covenant adopt', terminal)
  }
}

/** @throws UsageError */
function readArguments(words: readonly string[]): Arguments {
  const { values, positionals } = parseWords(words, options)
  const [catalog] = positionals
  if (catalog === undefined || positionals.length > 1) throw new UsageError('`adopt` takes one catalog')
  const optional = (name: keyof typeof options): string | undefined => {
    const value = values[name]
    if (value === '') throw new UsageError(`--${name} is empty`)
    return typeof value === 'string' ? value : undefined
  }
  const to = optional('to')
  const drafts = values.drafts === true
  if (drafts && to !== undefined) throw new UsageError('--to and --drafts exclude each other')
  return {
    catalog,
    namespace: optional('namespace')?.split('.'),
    dryRun: values['dry-run'] === true,
    folder: drafts ? undefined : (to ?? 'contracts'),
    url: optional('url'),
    sessionFile: optional('session-file'),
  }
}

interface Run {
  readonly args: Arguments
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly client: ReturnType<typeof openHttpClient>
}

interface Page<T> extends ListedPage<T> {
  readonly unusable?: readonly (readonly string[])[]
}

interface ListedTable {
  readonly table: TableRef
  readonly contract?: string
}

interface Proposal {
  readonly contract: string
  readonly document: string
  readonly masks: number
}

async function adoptAll(run: Run): Promise<number> {
  const { args, terminal, signal } = run
  const counts: Counts = {
    ...{ tables: 0, underContract: 0, present: 0, proposed: 0, masks: 0, failed: 0, unusable: 0 },
  }
  const drafted = args.folder === undefined ? await contractIds(run) : new Set<string>()
  for await (const namespace of namespacesOf(run, args.namespace, counts)) {
    const input = { catalog: args.catalog, namespace }
    for await (const page of pagesOf<ListedTable>(run, 'list_catalog_tables', input)) {
      noteUnusable(run, page, counts)
      const without = page.items.filter(({ contract }) => contract === undefined)
      counts.tables += page.items.length
      counts.underContract += page.items.length - without.length
      await inParallel(without, proposalsAtOnce, async ({ table }) => {
        signal.throwIfAborted()
        await adoptOne(run, table, drafted, counts)
      })
      terminal.complain(progressOf(namespace, counts))
    }
  }
  const what = args.dryRun ? 'would be proposed' : 'proposed'
  terminal.print(
    `${counts.tables} table(s): ${counts.underContract} under contract, ${counts.present} with a document already, ${counts.proposed} ${what}, ${counts.failed} failed.`,
  )
  if (!args.dryRun && counts.masks > 0)
    terminal.print(`The documents hold ${counts.masks} mask(s) by tag. Look at each before you apply them.`)
  if (counts.unusable > 0)
    terminal.print(`${counts.unusable} name(s) were left out, because the service cannot address them.`)
  return counts.failed > 0 ? exitStatus.failed : exitStatus.done
}

function progressOf(namespace: readonly string[], { tables, proposed, failed }: Counts): string {
  return `${namespace.join('.')}: ${tables} table(s) so far, ${proposed} proposed, ${failed} failed`
}

async function adoptOne(
  run: Run,
  table: TableRef,
  drafted: ReadonlySet<string>,
  counts: Counts,
): Promise<void> {
  const { args, terminal, client, signal } = run
  const { catalog, folder, dryRun } = args
  const file = folder && join(folder, ...table.namespace, `${table.name}.odcs.yaml`)
  if (file === undefined ? drafted.has(contractIdOf(table)) : await Bun.file(file).exists()) {
    counts.present++
    return
  }
  if (dryRun) {
    terminal.print(tableName(table))
    counts.proposed++
    return
  }
  try {
    const { namespace, name } = table
    const input = { catalog, namespace, table: name }
    const { contract, document, masks } = (await client.run('propose_table_document', input)) as Proposal
    if (file !== undefined) {
      await mkdir(dirname(file), { recursive: true })
      await writeWhole(file, document)
    } else {
      const body = new TextEncoder().encode(document)
      await client.exchange('add_contract_version', { id: contract }, { body, type: 'application/yaml' })
    }
    counts.proposed++
    counts.masks += masks
  } catch (error) {
    signal.throwIfAborted()
    // What concerns every table ends the run: it would fail for each of them.
    if (!(error instanceof Fault) || ['unauthenticated', 'forbidden'].includes(error.kind)) throw error
    counts.failed++
    terminal.complain(`${tableName(table)}: ${tellOperator(error)}`)
  }
}

/** The contracts that the service has documents of, in force or on their way. */
async function contractIds(run: Run): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for await (const { items } of pagesOf<{ readonly id: string }>(run, 'list_contract_documents', {}, 200))
    for (const { id } of items) ids.add(id)
  return ids
}

/** The namespace asked for and those below it; without one all that the catalog has. */
async function* namespacesOf(
  run: Run,
  parent: readonly string[] | undefined,
  counts: Counts,
): AsyncGenerator<readonly string[]> {
  if (parent !== undefined) yield parent
  const input = { catalog: run.args.catalog, ...(parent !== undefined && { parent }) }
  for await (const page of pagesOf<{ readonly namespace: readonly string[] }>(
    run,
    'list_catalog_namespaces',
    input,
  )) {
    noteUnusable(run, page, counts)
    for (const { namespace } of page.items) yield* namespacesOf(run, namespace, counts)
  }
}

function noteUnusable({ terminal }: Run, { unusable = [] }: Page<unknown>, counts: Counts): void {
  counts.unusable += unusable.length
  for (const levels of unusable) terminal.complain(`left out: ${levels.join('.')}`)
}

async function* pagesOf<T>(
  { client, signal }: Run,
  operation: string,
  input: Readonly<Record<string, unknown>>,
  limit = pageSize,
): AsyncGenerator<Page<T>> {
  for await (const page of listedPages<Page<T>>(client, operation, { ...input, limit })) {
    yield page
    signal.throwIfAborted()
  }
}
