/** The catalogs in which statements run. A tenant with one catalog need not name it. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import type { TenantId } from '../../../core/tenant.ts'
import { maybe } from '../../../http/schemas.ts'
import { listCatalogCredentials } from '../../../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../../../store/store.ts'
import type { ToolContext } from '../tool.ts'

/** Input: a catalog. */
export const catalogInput = maybe(
  Type.String({ maxLength: 255, description: 'from find_datasets; may be absent where there is one' }),
)

const catalogsMax = 50

/** The first catalogs of a tenant, by name. */
export async function catalogNames(store: Store, tenant: TenantId): Promise<readonly string[]> {
  const { items } = await listCatalogCredentials(store, tenant, { limit: catalogsMax })
  return items.map(({ nickname }) => nickname)
}

/** The catalog that is named, else the only one. @throws Fault `bad_request` where one must be named */
export async function chosenCatalog(
  { parts, caller }: ToolContext,
  catalog: string | undefined,
): Promise<string> {
  if (catalog !== undefined) return catalog
  const [only, ...others] = await catalogNames(parts.store, caller.tenant)
  if (only !== undefined && others.length === 0) return only
  throw new Fault('bad_request', '`catalog` must name one of the catalogs that find_datasets lists.')
}
