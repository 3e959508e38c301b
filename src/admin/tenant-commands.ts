/** Commands for tenants: create, list, suspend, resume. */

import type { Command } from './command.ts'

const fields = ['id', 'organization_id', 'name', 'state', 'created_at']

export const tenantCommands: readonly Command[] = [
  {
    words: 'tenant create',
    usage: '--name NAME [--organization org_…]',
    summary: 'Makes a tenant with its own schema and graph, if the license allows one more.',
    fields,
    prepare(flags) {
      const input = { name: flags.required('name'), organization_id: flags.optional('organization') }
      return { operation: 'make_tenant', input }
    },
  },
  {
    words: 'tenant list',
    usage: '',
    summary: 'Lists the tenants.',
    prepare: () => ({ operation: 'list_tenants', input: { limit: 1000 }, everyItem: true }),
  },
  {
    words: 'tenant suspend',
    usage: '--tenant ID',
    summary: 'Suspends a tenant: all its sessions are refused from the next request on. Nothing is deleted.',
    fields,
    prepare: (flags) => ({ operation: 'suspend_tenant', input: { tenant: flags.tenant() } }),
  },
  {
    words: 'tenant resume',
    usage: '--tenant ID',
    summary: 'Resumes a suspended tenant.',
    fields,
    prepare: (flags) => ({ operation: 'resume_tenant', input: { tenant: flags.tenant() } }),
  },
]
