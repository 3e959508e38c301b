/**
 * Asks the tenant's catalogs what columns the tables of a change have, so that rules can name columns of tables that
 * were made in the catalog itself. The change records them in its own transaction (change.ts).
 */

import { Fault } from '../base/fault.ts'
import { inParallel } from '../base/in-parallel.ts'
import { CatalogError } from '../catalog/catalog.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { capabilitiesOf } from '../core/catalog-kinds.ts'
import { foldTable, nameCaseOf } from '../core/name-case.ts'
import { type TableRef, tableKey, tableName } from '../core/table-ref.ts'
import type { SchemaColumn } from '../core/table-schema.ts'
import {
  findCatalogCredential,
  listCatalogCredentials,
} from '../store/catalog-credential/catalog-credentials.ts'
import { everyItem } from '../store/database/page.ts'
import type { TableDescription } from '../store/governance/described-table.ts'
import {
  type CatalogSchema,
  type RecordedSchema,
  recordedSchemas,
} from '../store/governance/record-schema.ts'
import { committedTable, parseLoadTableResult } from '../wire/iceberg/table-metadata.ts'
import { currentColumnsOf } from '../wire/iceberg/table-state.ts'
import type { ChangeContext } from './change.ts'

/** Tables of one change that are loaded from catalogs at once. */
const loadsMax = 8

interface Found {
  readonly credential: CatalogCredential
  readonly description: TableDescription
  readonly columns: readonly SchemaColumn[]
}

/** What became of asking one catalog. */
type Asked = Found | 'absent' | { readonly credential: CatalogCredential; readonly failure: unknown }

/**
 * The context of a change with what the catalogs have of its tables. A table of which columns are recorded is looked
 * up by its UUID, and stays as it is recorded where the catalog is away.
 * @param nickname the one catalog to ask; all of the tenant's where absent
 * @throws Fault `not_found` for an unknown catalog or a table that the named one does not have, `conflict` where several
 *   catalogs have a table of the name, or the named one another than is recorded, `unavailable` where a catalog cannot be
 *   asked for a table of which nothing is recorded
 */
export async function withCatalogSchemas(
  states: TableStates,
  on: ChangeContext,
  tables: readonly TableRef[],
  nickname?: string,
): Promise<ChangeContext> {
  if (tables.length === 0) return on
  const credentials = await credentialsOf(on, nickname)
  if (credentials.length === 0) return on
  const recorded = await recordedSchemas(
    (text, params) => on.store.tenantQuery(on.tenant, text, params),
    tables,
  )
  const found = await inParallel([...tables.entries()], loadsMax, async ([index, table]) => {
    const before = recorded[index] as RecordedSchema
    const asked: Asked[] = []
    for (const credential of credentials) asked.push(await ask(states, on, credential, table))
    const one = before.hasColumns
      ? sameTable(before, asked, table, nickname)
      : onlyTable(asked, table, nickname)
    return one === undefined ? [] : spelled(one, table, before)
  })
  return { ...on, catalogSchemas: found.flat() }
}

async function credentialsOf(
  { store, tenant }: ChangeContext,
  nickname: string | undefined,
): Promise<readonly CatalogCredential[]> {
  const named: string[] = []
  if (nickname !== undefined) named.push(nickname)
  else
    for await (const one of everyItem((page) => listCatalogCredentials(store, tenant, page)))
      if (capabilitiesOf(one.kind).live) named.push(one.nickname)
  const opened: CatalogCredential[] = []
  for (const name of named) {
    const credential = await findCatalogCredential(store, tenant, name)
    if (credential !== undefined) opened.push(credential)
    else if (nickname !== undefined) throw new Fault('not_found', 'There is no such catalog.')
  }
  return opened
}

async function ask(
  { catalogs }: TableStates,
  { tenant }: ChangeContext,
  credential: CatalogCredential,
  table: TableRef,
): Promise<Asked> {
  try {
    const found = await catalogs.during(async () => {
      const loaded = await catalogs.get(tenant, credential).loadTable(table, { snapshots: 'refs' })
      if (loaded.status !== 'loaded') throw new Error('the upstream answered 304 to an unconditional load')
      const result = parseLoadTableResult(loaded.body)
      return { description: committedTable(result, 'unknown'), columns: currentColumnsOf(result.metadata) }
    })
    return { credential, ...found }
  } catch (failure) {
    const isAbsent =
      (failure instanceof CatalogError && failure.code === 'ErrTableNotFound') ||
      // A name or depth that this kind of catalog cannot hold.
      (failure instanceof Fault && failure.kind === 'bad_request')
    return isAbsent ? 'absent' : { credential, failure }
  }
}

const isFound = (one: Asked): one is Found => one !== 'absent' && 'description' in one

/** Of the table that is recorded, whatever else has its name. @throws Fault `conflict` where the named catalog has another */
function sameTable(
  { tableUuid }: RecordedSchema,
  asked: readonly Asked[],
  table: TableRef,
  nickname: string | undefined,
): Found | undefined {
  const same = asked
    .filter(isFound)
    .find(({ description }) => tableUuid !== undefined && description.tableUuid === tableUuid)
  if (same === undefined && nickname !== undefined && asked.some(isFound))
    throw new Fault(
      'conflict',
      `The catalog ${nickname} has another table ${tableName(table)} than the one whose columns are recorded. Leave out \`catalog\`.`,
    )
  return same
}

/** @throws Fault where there is more than one, or it is not certain that there is one at most */
function onlyTable(
  asked: readonly Asked[],
  table: TableRef,
  nickname: string | undefined,
): Found | undefined {
  for (const one of asked) if (one !== 'absent' && 'failure' in one) throw awayFault(one, table, nickname)
  const found = asked.filter(isFound)
  const [first] = found
  if (first === undefined && nickname !== undefined)
    throw new Fault('not_found', `The catalog ${nickname} has no table ${tableName(table)}.`)
  const isOne = found.every(
    ({ description: { tableUuid } }) => tableUuid !== undefined && tableUuid === first?.description.tableUuid,
  )
  if (found.length > 1 && !isOne) {
    const names = found.map(({ credential }) => credential.nickname)
    throw new Fault(
      'conflict',
      `The catalogs ${names.slice(0, -1).join(', ')} and ${names.at(-1)} each have a table ${tableName(table)}. Name one as \`catalog\` when you put a contract on the table.`,
    )
  }
  return first
}

function awayFault(
  { credential, failure }: Extract<Asked, { failure: unknown }>,
  table: TableRef,
  nickname: string | undefined,
): Fault {
  const why = failure instanceof Fault || failure instanceof CatalogError ? ` ${failure.publicMessage}` : ''
  const other = nickname === undefined ? ', or name the table’s catalog as `catalog`' : ''
  return new Fault(
    'unavailable',
    `The catalog ${credential.nickname} could not be asked for the table ${tableName(table)}.${why} Retry${other}.`,
    { cause: failure },
  )
}

/** Under the name of the change, and in a catalog that folds names under its one form too, which readers use. */
function spelled(
  { credential, description, columns }: Found,
  table: TableRef,
  before: RecordedSchema,
): readonly CatalogSchema[] {
  const own = { table, description, columns, before }
  const folded = nameCaseOf(credential) === 'folded' ? foldTable(table) : table
  return tableKey(folded) === tableKey(table)
    ? [own]
    : [own, { table: folded, description, columns, before: { asOf: undefined } }]
}
