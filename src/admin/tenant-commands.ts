/** Commands for tenants: create, list, suspend, resume. */

import { systemClock } from '../base/clock.ts'
import { readInstalledLicense } from '../license/installed-license.ts'
import { licensedBy } from '../license/licensed.ts'
import {
  createTenant,
  listTenants,
  resumeTenant,
  suspendTenant,
  type Tenant,
} from '../store/tenant/tenants.ts'
import { assertFound, type Command, everyPage } from './command.ts'

const unknownTenant = 'There is no such tenant.'

export const tenantCommands: readonly Command[] = [
  {
    words: 'tenant create',
    usage: '--name NAME [--organization org_…]',
    summary: 'Makes a tenant with its own schema and graph, if the license allows one more.',
    fields: ['id', 'organizationId', 'name', 'state', 'createdAt'] satisfies (keyof Tenant)[],
    prepare(flags) {
      const tenant = { name: flags.required('name'), organizationId: flags.optional('organization') }
      return async (store, { license, demo }) => {
        const licensed = licensedBy(await readInstalledLicense(license, demo), systemClock)
        return await createTenant(store, tenant, licensed.requireRoomForTenant)
      }
    },
  },
  {
    words: 'tenant list',
    usage: '',
    summary: 'Lists the tenants.',
    prepare: () => (store) => everyPage((page) => listTenants(store, page)),
  },
  {
    words: 'tenant suspend',
    usage: '--tenant ID',
    summary: 'Suspends a tenant: all its sessions are refused from the next request on. Nothing is deleted.',
    prepare(flags) {
      const tenant = flags.tenant()
      return async (store) => assertFound(await suspendTenant(store, tenant), unknownTenant)
    },
  },
  {
    words: 'tenant resume',
    usage: '--tenant ID',
    summary: 'Resumes a suspended tenant.',
    prepare(flags) {
      const tenant = flags.tenant()
      return async (store) => assertFound(await resumeTenant(store, tenant), unknownTenant)
    },
  },
]
