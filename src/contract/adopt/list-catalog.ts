/**
 * Lists what a catalog has, a page at a time: namespaces below a parent, and the tables of a namespace with the contract
 * that each is under. It asks the catalog, records nothing, and holds one page of the catalog at most.
 */

import { Fault } from '../../base/fault.ts'
import { namespacePage } from '../../catalog/list-namespaces.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { isPathIdentifier, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { PageInput } from '../../http/page-view.ts'
import { findCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import { contractsOf } from '../../store/contract/contracts-of.ts'
import type { ContractParts } from '../parts.ts'
import { fromCatalog } from '../pin-table.ts'

type ListParts = Pick<ContractParts, 'store' | 'states'>

/** Items of a page where the request does not say. */
const pageDefault = 100

/** @throws Fault `not_found` where the tenant has no catalog of the nickname */
export async function catalogNamed(
  { store }: Pick<ListParts, 'store'>,
  tenant: TenantId,
  nickname: string,
): Promise<CatalogCredential> {
  const credential = await findCatalogCredential(store, tenant, nickname)
  if (credential === undefined) throw new Fault('not_found', 'There is no such catalog.')
  return credential
}

/** The namespaces below a parent. @throws Fault `not_found`, `bad_request` for a token of another listing, `upstream_failed` */
export async function listCatalogNamespaces(
  { store, states }: ListParts,
  tenant: TenantId,
  {
    catalog: nickname,
    parent = [],
    ...page
  }: PageInput & { catalog: string; parent?: readonly string[] | undefined },
) {
  const catalog = states.catalogs.get(tenant, await catalogNamed({ store }, tenant, nickname))
  if (parent.length >= catalog.capabilities().namespaceDepthMax) return { items: [] }
  const { items, next_page_token } = await pageOfCatalog(page, async (asked) => {
    const { namespaces, nextPageToken } = await fromCatalog(() =>
      states.catalogs.during(() => namespacePage(catalog, parent, asked)),
    )
    return { items: namespaces, nextPageToken }
  })
  // A catalog that lists the parent itself would never end.
  const below = items.filter((levels) => levels.length > parent.length)
  return {
    items: below.filter((levels) => levels.every(isPathIdentifier)).map((namespace) => ({ namespace })),
    ...namesOf(below.filter((levels) => !levels.every(isPathIdentifier))),
    next_page_token,
  }
}

/** The tables of a namespace. @throws Fault as {@link listCatalogNamespaces} */
export async function listCatalogTables(
  { store, states }: ListParts,
  tenant: TenantId,
  { catalog: nickname, namespace, ...page }: PageInput & { catalog: string; namespace: readonly string[] },
) {
  const catalog = states.catalogs.get(tenant, await catalogNamed({ store }, tenant, nickname))
  const unusable: (readonly string[])[] = []
  const { items, next_page_token } = await pageOfCatalog(page, async (asked) => {
    const listed = await fromCatalog(() => states.catalogs.during(() => catalog.listTables(namespace, asked)))
    if (asked.skip === 0) unusable.push(...(listed.unusable ?? []))
    return { items: listed.identifiers, nextPageToken: listed.nextPageToken }
  })
  const contracts = await contractsOf(store, tenant, items)
  return {
    items: items.map((table) => {
      const contract = contracts.get(tableKey(table))
      return {
        table: { namespace: table.namespace, name: table.name },
        ...(contract !== undefined && { contract }),
      }
    }),
    ...namesOf(unusable),
    next_page_token,
  }
}

function namesOf(unusable: readonly (readonly string[])[]) {
  return unusable.length > 0 ? { unusable } : {}
}

interface Asked {
  readonly pageSize: number
  readonly pageToken?: string | undefined
  /** Items of the catalog's page that were given already. */
  readonly skip: number
}

/**
 * One page of ours of the catalog's pages. A catalog may give more than it is asked for: the rest of its page is given
 * by the next one of ours, which asks for the catalog's page again.
 */
async function pageOfCatalog<T>(
  { limit = pageDefault, page_token }: PageInput,
  load: (
    asked: Asked,
  ) => Promise<{ readonly items: readonly T[]; readonly nextPageToken: string | undefined }>,
): Promise<{ readonly items: readonly T[]; readonly next_page_token?: string }> {
  const { skip, pageToken } = placeOf(page_token)
  const { items, nextPageToken } = await load({ pageSize: limit, pageToken, skip })
  const page = items.slice(skip, skip + limit)
  const end = skip + limit
  if (end < items.length) return { items: page, next_page_token: tokenOf({ skip: end, pageToken }) }
  if (nextPageToken === undefined) return { items: page }
  return { items: page, next_page_token: tokenOf({ skip: 0, pageToken: nextPageToken }) }
}

type Place = Pick<Asked, 'skip' | 'pageToken'>

function tokenOf({ skip, pageToken }: Place): string {
  return Buffer.from(JSON.stringify([skip, pageToken ?? null])).toString('base64url')
}

function placeOf(token: string | undefined): Place {
  if (token === undefined) return { skip: 0 }
  const read = (): unknown => {
    try {
      return JSON.parse(Buffer.from(token, 'base64url').toString())
    } catch {
      return undefined
    }
  }
  const place = read()
  const [skip, pageToken] = Array.isArray(place) ? (place as readonly unknown[]) : []
  const isToken = pageToken === null || typeof pageToken === 'string'
  if (typeof skip !== 'number' || !Number.isSafeInteger(skip) || skip < 0 || !isToken)
    throw new Fault('bad_request', '`page_token` is none that a page of this listing gave.')
  return { skip, pageToken: pageToken ?? undefined }
}
