/** Declares the operation that tells where contracts are missing or weak (docs/contracts.md). It changes nothing. */

import { type CoverageKind, coverageKinds } from '../core/coverage.ts'
import type { TenantId } from '../core/tenant.ts'
import { type PageInput, pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  list,
  maybe,
  object,
  oneOf,
  pageInput,
  tableIdentifier,
  text,
  wholeNumber,
} from '../http/schemas.ts'
import { coverageCounts, type UncoveredTable, uncoveredTables } from '../store/contract/coverage.ts'
import { auditing, type ContractParts, contractsPath, operation } from './parts.ts'

const counts = object({
  tables: described(wholeNumber, 'that the store knows, or the last sweep of a catalog listed'),
  uncontracted: described(wholeNumber, 'without an active contract'),
  without_owner: described(wholeNumber, 'whose document names neither a team nor a member'),
  unprotected_findings: described(wholeNumber, 'with a finding that stands, on a column without a mask'),
  in_shadow: described(wholeNumber, 'whose contract only records commits that break it'),
  unread: described(wholeNumber, 'under contract, and read by no statement of the last 90 days'),
})

const kind = described(
  oneOf(coverageKinds),
  'lists the tables of this kind; without it, only counts are given',
)

export const coverageOperations = [
  operation({
    name: 'get_contract_coverage',
    tag: 'contracts',
    summary: 'Where contracts are missing or weak: counts of tables by kind, and the tables of one kind',
    method: 'GET',
    path: `${contractsPath}/coverage`,
    access: auditing,
    gives: {
      overseen: ['existence', 'description'],
    },
    input: object({ kind: maybe(kind), ...pageInput }),
    output: object({
      counts: maybe(described(counts, 'on the first page')),
      items: list(object({ table: tableIdentifier, contract: maybe(described(text, 'its id')) })),
      next_page_token: maybe(text),
    }),
    run: ({ parts, caller }, { kind: asked, ...page }) => coverage(parts, caller.tenant, asked, page),
  }),
]

async function coverage(
  { store, clock }: Pick<ContractParts, 'store' | 'clock'>,
  tenant: TenantId,
  asked: CoverageKind | undefined,
  page: PageInput,
) {
  const nowMs = clock.now()
  const [counts, found] = await Promise.all([
    page.page_token === undefined ? coverageCounts(store, tenant, nowMs) : undefined,
    asked === undefined
      ? { items: [] as readonly UncoveredTable[] }
      : uncoveredTables(store, tenant, asked, { ...pageRequest(page), nowMs }),
  ])
  return { ...(counts && { counts }), ...pageView(found, tableView) }
}

function tableView({ table, contract }: UncoveredTable) {
  return { table, ...(contract !== undefined && { contract }) }
}
