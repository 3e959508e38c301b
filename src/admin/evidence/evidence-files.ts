/** What each file of `covenant evidence` holds, and how it is asked for: page by page to the end. It decides no exit status. */

import { Fault } from '../../base/fault.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { openHttpClient } from '../http-client.ts'
import { pagesOf } from '../pages.ts'

type HttpClient = ReturnType<typeof openHttpClient>
type Add = (items: readonly unknown[]) => Promise<void>

/** What evidence is asked of. */
export interface Asked {
  readonly table: TableRef
  readonly from: Date
  readonly to: Date
}

interface EvidenceFile {
  readonly name: string
  /** In Markdown. */
  readonly holds: string
  /** @returns what is to be said of this time's file beside that */
  readonly write: (client: HttpClient, asked: Asked, add: Add) => Promise<readonly string[]>
}

const pageSize = 1_000

/** In the order in which they are written. The first refuses times that are too far apart. */
export const evidenceFiles: readonly EvidenceFile[] = [
  {
    name: 'who-read.ndjson',
    holds:
      'Who read the table between the two times, over all surfaces: principal, surface, session, how often, first and last, and whether whole, filtered or masked (`who_read`). Raw reads of the last minute may be missing.',
    write: async (client, { table, from, to }, add) => {
      await addAll(client, 'who_read', { ...named(table), from, to }, add)
      return []
    },
  },
  {
    name: 'contracts.ndjson',
    holds:
      'Versions of contracts whose documents govern the table and that were in force at some moment between the two times (`list_contracts_in_force`). `in_force_at_from` and `in_force_at_to` say which were in force at the two times themselves. `document` is the text as received, whose SHA-256 is `sha256`. A contract without a document has no versions: it is in `changes.ndjson` alone.',
    write: writeContracts,
  },
  {
    name: 'changes.ndjson',
    holds:
      'What was changed between the two times, newest first: of the table by its name (compared without case), of the contracts in `contracts.ndjson`, and of tags as a whole, some of which concern other tables (`list_contract_changes`).',
    write: writeChanges,
  },
  {
    name: 'who-can-read.ndjson',
    holds:
      'Who can read the table at the moment of asking, which is neither of the two times: one line with its protection, then one for each live service session (`show_readers`). People of the identity provider have the roles that it names.',
    write: writeReaders,
  },
  {
    name: 'decisions.ndjson',
    holds:
      'Decisions on commits and other changes of the table between the two times, newest first, with policies and outcomes (`list_decisions`).',
    write: async (client, { table, from, to }, add) => {
      await addAll(client, 'list_decisions', { ...named(table), from, to, explain: true, limit: 100 }, add)
      return []
    },
  },
  {
    name: 'tags.ndjson',
    holds:
      'Who set and removed tags of the table and its columns up to the second time, newest first, also before the first one (`list_tag_history`).',
    write: async (client, { table, to }, add) => {
      await addAll(client, 'list_tag_history', named(table), (items) =>
        add(items.filter((one) => timeOf((one as Dated).at) < to.getTime())),
      )
      return []
    },
  },
]

interface Dated {
  readonly at: string
}

const named = ({ namespace, name: table }: TableRef) => ({ namespace, table })
const timeOf = (text: string | undefined) =>
  text === undefined ? Number.POSITIVE_INFINITY : Date.parse(text)

async function addAll(
  client: HttpClient,
  operation: string,
  input: Readonly<Record<string, unknown>>,
  add: Add,
): Promise<void> {
  for await (const items of pagesOf(client, operation, { limit: pageSize, ...input })) await add(items)
}

interface Term {
  readonly id: string
  readonly number: number
  readonly sha256: string
  readonly in_force_from: string
  readonly in_force_until?: string
}

async function* termsOf(client: HttpClient, { table, from, to }: Asked) {
  // One more millisecond, so that a version which begins at the second time is there too.
  const until = new Date(to.getTime() + 1)
  const input = { ...named(table), from, to: until, limit: pageSize }
  for await (const items of pagesOf(client, 'list_contracts_in_force', input)) yield* items as readonly Term[]
}

async function writeContracts(client: HttpClient, asked: Asked, add: Add): Promise<readonly string[]> {
  let mayRead = true
  for await (const term of termsOf(client, asked)) {
    const document: string | undefined = mayRead ? await documentOf(client, term) : undefined
    mayRead = document !== undefined
    const isIn = (time: Date) =>
      timeOf(term.in_force_from) <= time.getTime() && timeOf(term.in_force_until) > time.getTime()
    await add([{ ...term, in_force_at_from: isIn(asked.from), in_force_at_to: isIn(asked.to), document }])
  }
  return mayRead
    ? []
    : ['The session may not read documents, so their texts are left out; the hashes are there.']
}

/** @returns undefined where the session may not read documents @throws Fault where it is not the one of the hash */
async function documentOf(client: HttpClient, { id, number, sha256, in_force_from }: Term) {
  try {
    const { bytes } = await client.exchange('get_contract_document', { id, as_of: in_force_from }, {})
    if (new Bun.CryptoHasher('sha256').update(bytes).digest('hex') === sha256)
      return new TextDecoder().decode(bytes)
  } catch (error) {
    if (error instanceof Fault && error.kind === 'forbidden') return undefined
    throw error
  }
  throw new Fault('conflict', `The document of ${id} version ${number} is not the one of its hash.`)
}

async function writeChanges(client: HttpClient, asked: Asked, add: Add): Promise<readonly string[]> {
  const contracts = new Set<string>()
  for await (const { id } of termsOf(client, asked)) contracts.add(id)
  for await (const page of pagesOf(client, 'list_contract_changes', { limit: pageSize })) {
    const items = page as readonly (Dated & { readonly subject: Subject })[]
    await add(
      items.filter(({ at, subject }) => {
        const time = timeOf(at)
        const isInTime = time >= asked.from.getTime() && time < asked.to.getTime()
        return isInTime && concerns(subject, asked.table, contracts)
      }),
    )
    // They come newest first, so older pages hold nothing more.
    if (items.some(({ at }) => timeOf(at) < asked.from.getTime())) break
  }
  return []
}

type Subject = Readonly<Record<string, unknown>>

function concerns(subject: Subject, table: TableRef, contracts: ReadonlySet<string>): boolean {
  const { table: of, contract, tag } = subject
  if (typeof of === 'object' && of !== null) {
    const { namespace, name } = of as Partial<TableRef>
    return folded([...(namespace ?? []), name ?? '']) === folded([...table.namespace, table.name])
  }
  return (typeof contract === 'string' && contracts.has(contract)) || typeof tag === 'string'
}

const folded = (levels: readonly string[]) => JSON.stringify(levels).toLowerCase()

async function writeReaders(client: HttpClient, { table }: Asked, add: Add): Promise<readonly string[]> {
  let token: string | undefined
  try {
    do {
      const input = { ...named(table), limit: pageSize, page_token: token }
      const {
        sessions,
        next_page_token: next,
        ...protection
      } = (await client.run('show_readers', input)) as {
        readonly sessions: readonly object[]
        readonly next_page_token?: string
      }
      if (token === undefined) await add([{ kind: 'protection', ...protection }])
      await add(sessions.map((one) => ({ kind: 'session', ...one })))
      token = next
    } while (token !== undefined)
    return []
  } catch (error) {
    if (!(error instanceof Fault && error.kind === 'not_found') || token !== undefined) throw error
    return ['The service has no such table that can be read now, so the file is empty.']
  }
}
