/**
 * `covenant evidence`: writes what a service has on record of a table between two times into a folder. It signs nothing,
 * goes on with nothing, and changes nothing on the service.
 */

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../../base/fault.ts'
import { parseRfc3339 } from '../../base/rfc3339.ts'
import { documentOperations } from '../../contract/document/operations.ts'
import { inForceOperations } from '../../contract/in-force-operations.ts'
import { oversightOperations } from '../../contract/oversight-operations.ts'
import type { Operation } from '../../core/operation.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from '../exit-status.ts'
import { openHttpClient } from '../http-client.ts'
import { operationNamed } from '../operations.ts'
import { parseWords } from '../parse-words.ts'
import { type ServiceAddress, serviceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { type Asked, evidenceFiles } from './evidence-files.ts'
import { readmeText } from './evidence-readme.ts'
import { lineFile, writeNew } from './line-file.ts'

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  out: { type: 'string' },
  url: { type: 'string' },
  'session-file': { type: 'string' },
} as const

const help = `Usage: covenant evidence TABLE --from TIME --to TIME --out FOLDER [--url URL] [--session-file FILE]

Writes what the service has on record of a table between two times into a folder: the versions of contracts in force,
what was changed, who read it, who can read it now, decisions on its commits, and the history of its tags. Each is a
file of JSON Lines; README.md says what each holds, what was asked when by whom, and what it does not prove. README.md is
written last: a folder without it is not whole. Nothing is signed.

  TABLE                namespace.table; levels of a namespace are joined by dots
  --from TIME          as RFC 3339 writes it: at this time or later
  --to TIME            before this time, at most 366 days later
  --out FOLDER         a folder that is empty or not there yet

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names; it takes the role steward, administrator or auditor. The text of documents
takes steward or administrator. How far it is goes to standard error.
${exitStatusHelp} 130 interrupted.`

/** Milliseconds for one request: a long time takes long to be looked through. */
const requestMs = 120_000
const operations = [
  ...inForceOperations,
  ...documentOperations,
  ...oversightOperations,
] as readonly Operation[]

/** Runs the verb. It never throws. @returns the exit status */
export async function writeEvidence(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  let signal: AbortSignal | undefined
  try {
    const { asked, folder, ...address } = readArguments(words)
    const service = await serviceAddress(address, terminal.env)
    if (service === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
    signal = terminal.interrupted?.() ?? new AbortController().signal
    await writeAll(service, { asked, folder, signal }, terminal)
    return exitStatus.done
  } catch (error) {
    if (signal?.aborted) {
      terminal.complain('Interrupted. A folder without README.md is not whole.')
      return exitStatus.interrupted
    }
    return reportFailure(error, 'covenant evidence', terminal)
  }
}

/** @throws UsageError */
function readArguments(words: readonly string[]) {
  const { values, positionals } = parseWords(words, options)
  const [name] = positionals
  if (name === undefined || positionals.length > 1) throw new UsageError('`evidence` takes one table')
  const parts = name.split('.')
  const last = parts.pop() ?? ''
  if (parts.length === 0 || last === '' || parts.includes(''))
    throw new UsageError('TABLE must be namespace.table')
  const table: TableRef = { namespace: parts, name: last }
  const optional = (flag: keyof typeof options): string | undefined => {
    const value = values[flag]
    if (value === '') throw new UsageError(`--${flag} is empty`)
    return typeof value === 'string' ? value : undefined
  }
  const required = (flag: keyof typeof options): string => {
    const value = optional(flag)
    if (value === undefined) throw new UsageError(`--${flag} is missing`)
    return value
  }
  const time = (flag: 'from' | 'to'): Date => {
    const read = parseRfc3339(required(flag))
    if (read === undefined)
      throw new UsageError(`--${flag} must be a time as RFC 3339 writes it, such as 2026-03-01T00:00:00Z`)
    return read
  }
  const asked: Asked = { table, from: time('from'), to: time('to') }
  if (asked.to.getTime() <= asked.from.getTime()) throw new UsageError('--to must be after --from')
  return { asked, folder: required('out'), url: optional('url'), sessionFile: optional('session-file') }
}

function named(name: string): Operation {
  return operations.find((operation) => operation.name === name) ?? operationNamed(name)
}

/** @throws UsageError where the folder holds something, or is none */
async function makeEmpty(folder: string): Promise<void> {
  // What is in it says who read what: other users of the machine do not see it.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new UsageError('--out must name a folder that can be made', { cause })
  })
  const found = await readdir(folder).catch((cause: unknown) => {
    throw new UsageError('--out must name a folder that can be read', { cause })
  })
  if (found.length > 0)
    throw new UsageError('--out must be empty: nothing is gone on with, and nothing replaced')
}

interface Run {
  readonly asked: Asked
  readonly folder: string
  readonly signal: AbortSignal
}

async function writeAll(
  service: ServiceAddress,
  { asked, folder, signal }: Run,
  { print, complain }: Terminal,
): Promise<void> {
  const client = openHttpClient(service, { named, signal, requestMs })
  await makeEmpty(folder)
  const began = new Date()
  const session = (await client.run('get_own_session', {})) as {
    readonly tenant: string
    readonly session_id: string
    readonly principal: { readonly sub: string; readonly roles: readonly string[] }
  }
  const written = []
  for (const { name, holds, write } of evidenceFiles) {
    signal.throwIfAborted()
    const file = await lineFile(join(folder, name))
    try {
      const notes = await write(client, asked, file.add)
      written.push({ name, holds, notes, ...file.sum() })
    } catch (error) {
      if (error instanceof Fault) complain(`${name} could not be written. The folder is not whole.`)
      throw error
    } finally {
      await file.close()
    }
    complain(`${name}: ${file.sum().lines} line(s)`)
  }
  const ended = new Date()
  await writeNew(
    join(folder, 'README.md'),
    readmeText({ asked, service: service.url, session, began, ended }, written),
  )
  print(`${tableName(asked.table)}: ${written.length} files and README.md`)
}
