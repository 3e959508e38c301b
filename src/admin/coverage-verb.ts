/** `covenant coverage`: asks a service where contracts are missing or weak, and prints counts and tables. */

import { coverageOperations } from '../contract/coverage-operations.ts'
import { type CoverageKind, coverageKinds, unreadDays } from '../core/coverage.ts'
import type { Operation } from '../core/operation.ts'
import { type TableRef, tableName } from '../core/table-ref.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { findsOperation } from './find-operation.ts'
import { openHttpClient } from './http-client.ts'
import { type ListedPage, listedPages } from './pages.ts'
import { parseWords } from './parse-words.ts'
import { serviceAddress } from './service-address.ts'
import type { Terminal } from './terminal.ts'

const options = {
  kind: { type: 'string' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  'session-file': { type: 'string' },
} as const

const kindTexts: Readonly<Record<CoverageKind, string>> = {
  uncontracted: 'without an active contract',
  without_owner: 'under a document that names no team and no member',
  unprotected_findings: 'with a finding on a column without a mask',
  in_shadow: 'under a contract that only records',
  unread: `under contract and unread for ${unreadDays} days`,
}

const help = `Usage: covenant coverage [--kind KIND] [--json] [--url URL] [--session-file FILE]

Counts the tables that contracts do not cover well, and lists those of one kind.

  --kind KIND  ${coverageKinds.join(', ')}
  --json       the same as JSON: counts, and items

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names; it takes the role steward, administrator or auditor.
${exitStatusHelp}`

interface Item {
  readonly table: TableRef
  readonly contract?: string
}

interface Answer extends ListedPage<Item> {
  readonly counts?: Readonly<Record<CoverageKind | 'tables', number>> | undefined
}

const named = findsOperation(coverageOperations as readonly Operation[])
const pageSize = 1_000
const requestMs = 60_000

/** Runs the verb. It never throws. @returns the exit status */
export async function showCoverage(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const { values, positionals } = parseWords(words, options)
    if (positionals.length > 0) throw new UsageError('`coverage` takes no words')
    const kind = coverageKinds.find((one) => one === values.kind)
    if (values.kind !== undefined && kind === undefined)
      throw new UsageError(`--kind is one of ${coverageKinds.join(', ')}`)
    const file = values['session-file']
    const address = await serviceAddress(
      {
        url: typeof values.url === 'string' ? values.url : undefined,
        sessionFile: typeof file === 'string' ? file : undefined,
      },
      terminal.env,
    )
    if (address === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
    const signal = new AbortController().signal
    const client = openHttpClient(address, { named, signal, requestMs })
    const items: Item[] = []
    let counts: Answer['counts']
    for await (const page of listedPages<Answer>(client, 'get_contract_coverage', {
      kind,
      limit: pageSize,
    })) {
      counts ??= page.counts
      items.push(...page.items)
    }
    print(terminal, { counts, items }, values.json === true)
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, 'covenant coverage', terminal)
  }
}

function print(terminal: Terminal, { counts, items }: Answer, json: boolean): void {
  if (json) {
    terminal.print(JSON.stringify({ counts, items }, null, 2))
    return
  }
  if (counts !== undefined) {
    const width = Math.max(...Object.values(counts).map((count) => String(count).length))
    const line = (name: string, count: number, what: string) =>
      terminal.print(`${String(count).padStart(width)}  ${name.padEnd(20)}  ${what}`)
    line('tables', counts.tables, 'that the store knows, or the last sweep of a catalog listed')
    for (const one of coverageKinds) line(one, counts[one], kindTexts[one])
  }
  for (const { table, contract } of items)
    terminal.print(contract === undefined ? tableName(table) : `${tableName(table)}  ${contract}`)
}
