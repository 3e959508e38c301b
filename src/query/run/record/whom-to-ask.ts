/**
 * Adds to a refused statement whom to ask, and how, as its hint: of tables that the principal may see, from their
 * contracts, and for those who oversee tables also of one without an active contract. It changes no verdict.
 */

import type { Clock } from '../../../base/clock.ts'
import {
  type AskableAccess,
  accessHint,
  agentAccessHint,
  type RequestPage,
} from '../../../core/access-hint.ts'
import { type GovernedTable, isMasked } from '../../../core/governed-table.ts'
import { isReadable } from '../../../core/seen-table.ts'
import { type TableRef, tableKey, tableName } from '../../../core/table-ref.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { askWords, whomToAsk } from '../../../core/whom-to-ask.ts'
import { contactsInForce, type NamingVersion, versionsNaming } from '../../../store/contract/contacts.ts'
import type { RunQuery } from '../../../store/contract/versions.ts'
import type { Store } from '../../../store/store.ts'
import { type SqlError, UnreadableTable } from '../../compile/base/sql-error.ts'
import type { QueryContext } from '../../query-service.ts'
import type { QueryProgress } from './usage-of.ts'

interface AskParts {
  readonly store: Store
  readonly clock: Clock
  readonly requestPage?: RequestPage
}

/** A table that the principal may see, with its contract. */
interface AskedTable {
  readonly ref: TableRef
  readonly contract?: { readonly id: string } | undefined
}

/** Tables of a statement that a hint names. */
const namedMax = 3

/**
 * The refusal with whom to ask; the same one where nobody is named, where it has a hint already, or where the store does
 * not tell.
 */
export async function withWhomToAsk(
  parts: AskParts,
  { tenant, surface }: Pick<QueryContext, 'tenant' | 'surface'>,
  { loaded }: Pick<QueryProgress, 'loaded'>,
  failure: SqlError,
): Promise<SqlError> {
  if (failure.sqlState !== '42501' || failure.hint !== undefined || loaded === undefined) return failure
  try {
    if (failure instanceof UnreadableTable)
      return failure.hinted(await hintOfUncontracted(parts, tenant, failure.table))
    const tables = loaded.tables.filter(isReadable)
    const how = hintOfAccess(parts, { surface }, tables.flatMap(hiddenOf))
    const hints = [await askHint(parts, tenant, tables), how].filter((one) => one !== undefined)
    return hints.length === 0 ? failure : failure.hinted(hints.join(' '))
  } catch {
    return failure
  }
}

/**
 * Whom to ask about tables, a sentence for each contract.
 * @param tables that the principal may see
 * @returns undefined where no document names anybody
 */
export async function askHint(
  { store, clock }: AskParts,
  tenant: TenantId,
  tables: readonly AskedTable[],
): Promise<string | undefined> {
  const ids = [...new Set(tables.flatMap(({ contract }) => contract?.id ?? []))].slice(0, namedMax)
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const contacts = await contactsInForce(run, tenant, ids)
  const sentences = ids.flatMap((id) => {
    const whom = whomToAsk(contacts.get(id), clock.now())
    const of = tables
      .filter(({ contract }) => contract?.id === id)
      .map(({ ref }) => [tableKey(ref), ref] as const)
    const names = [...new Map(of).values()].slice(0, namedMax).map(tableName)
    return whom === undefined ? [] : [`Ask ${askWords(whom)} about ${names.join(', ')}.`]
  })
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

/** How access to what is hidden is asked for on a surface; undefined where nothing is hidden. */
export function hintOfAccess(
  { requestPage }: Pick<AskParts, 'requestPage'>,
  { surface }: Pick<QueryContext, 'surface'>,
  asked: readonly AskableAccess[],
): string | undefined {
  return surface === 'mcp' ? agentAccessHint(asked) : accessHint(requestPage, asked)
}

/** What may be asked for of a table; nothing where no contract says who decides. */
function hiddenOf({ ref, contract, rowFilters, columns }: GovernedTable): readonly AskableAccess[] {
  const isHidden = rowFilters.length > 0 || columns.some(isMasked)
  return contract !== undefined && isHidden ? [{ table: ref }] : []
}

/** Which contracts name a table without an active one, and whom to ask. Only for who oversees tables. */
async function hintOfUncontracted({ store, clock }: AskParts, tenant: TenantId, table: TableRef) {
  const run: RunQuery = (text, params) => store.tenantQuery(tenant, text, params)
  const named = await versionsNaming(run, tenant, table)
  if (named.length === 0)
    return `No contract document names ${tableName(table)}: put one, or let \`covenant adopt\` propose it.`
  return named.map((one) => namingText(one, clock.now())).join(' ')
}

function namingText({ contract, version, state, contacts }: NamingVersion, nowMs: number): string {
  const whom = whomToAsk(contacts, nowMs)
  const ask = whom === undefined ? 'ask a steward' : `ask ${askWords(whom)}`
  return `The contract ${contract} names it; its version ${version} is ${state}: ${ask}.`
}
