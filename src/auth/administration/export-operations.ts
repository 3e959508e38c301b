/** Declares the export of a tenant under /admin, page by page. `covenant admin tenant export` writes the files. */

import { exportPartNames } from '../../core/tenant-export.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageView } from '../../http/page-view.ts'
import { described, maybe, object, oneOf, pageOf, text } from '../../http/schemas.ts'
import type { Store } from '../../store/store.ts'
import { exportPage } from '../../store/tenant/export-tenant.ts'
import { existingTenant } from './tenants.ts'

const operation = operationsOf<{ readonly store: Store }>()

export const exportOperations = [
  operation({
    tag: 'administration',
    access: { organization: 'internal admin' },
    name: 'export_tenant',
    summary: 'A page of what a tenant takes along when it ends: contracts, policies, audit and usage',
    description:
      'Each item is a line of JSON, whose integers are exact. No secret and no body of a commit is in it. A suspended tenant is exported, too.',
    method: 'GET',
    path: '/admin/tenants/{tenant}/export/{part}',
    gives: { overseen: ['existence', 'description', 'columns', 'values', 'counts'] },
    input: object({
      tenant: text,
      part: oneOf(exportPartNames),
      page_token: maybe(described(text, '`next_page_token` of the previous page; opaque')),
    }),
    output: pageOf(text),
    faults: { not_found: 'There is no such tenant.' },
    run: async ({ parts }, { tenant, part, page_token: after }) =>
      pageView(
        await exportPage(parts.store, await existingTenant(parts.store, tenant), part, { after }),
        (line) => line,
      ),
  }),
]
