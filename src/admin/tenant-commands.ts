/** Commands for tenants: create, list, suspend, resume, export, remove. */

import { removalWaitDays } from '../limits.ts'
import type { Command } from './command.ts'
import { UsageError } from './exit-status.ts'
import { exportTenant } from './tenant-export.ts'

const fields = ['id', 'organization_id', 'name', 'state', 'created_at']

export const tenantCommands: readonly Command[] = [
  {
    words: 'tenant create',
    usage: '--name NAME [--organization org_…] [--if-absent]',
    switches: ['if-absent'],
    summary:
      'Makes a tenant with its own schema and graph, if the license allows one more. With --if-absent, one that has the name and organization is shown instead.',
    fields,
    prepare(flags) {
      const input = {
        name: flags.required('name'),
        organization_id: flags.optional('organization'),
        ...(flags.isSet('if-absent') && { if_absent: true }),
      }
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
  {
    words: 'tenant export',
    usage: '--tenant ID --into FOLDER',
    summary:
      'Writes contracts, policies, audit and usage of a tenant into a new folder, with a manifest of counts and SHA-256.',
    details:
      'The folder gets its name once it is whole. Suspend the tenant first, so that all files are of one state. The SHA-256 that it prints is for `tenant remove`.',
    fields: ['into', 'files', 'lines', 'export_sha256'],
    prepare(flags) {
      const [tenant, into] = [flags.tenant(), flags.required('into')]
      return {
        operation: 'export_tenant',
        input: { tenant },
        calls: (client) => exportTenant(client, tenant, into),
      }
    },
  },
  {
    words: 'tenant remove',
    usage: '--tenant ID [--wait-days N] [--export-sha256 HEX] [--confirm] [--withdraw]',
    switches: ['confirm', 'withdraw'],
    summary:
      'Asks for the removal of a tenant. With --confirm another person confirms it: the tenant is suspended, and removed after the waiting time. With --withdraw it is withdrawn.',
    details:
      'To ask and to confirm takes a running service, and the sessions of two persons. --wait-days is 7 to 365; without it 30. --export-sha256 is that of the manifest of `tenant export`. Legal holds refuse each step.',
    fields: ['id'],
    prepare(flags) {
      const [isConfirmed, isWithdrawn] = [flags.isSet('confirm'), flags.isSet('withdraw')]
      const days = flags.integer('wait-days', removalWaitDays.min, removalWaitDays.max)
      const sha256 = flags.optional('export-sha256')
      const tenant = flags.tenant()
      if (!isConfirmed && !isWithdrawn) {
        const wanted = {
          ...(days !== undefined && { wait_days: days }),
          ...(sha256 && { export_sha256: sha256 }),
        }
        return { operation: 'ask_tenant_removal', input: { tenant, ...wanted } }
      }
      if (isConfirmed && isWithdrawn) throw new UsageError('give --confirm or --withdraw, not both')
      if (days !== undefined || sha256 !== undefined)
        throw new UsageError('--wait-days and --export-sha256 are for asking alone')
      return {
        operation: isConfirmed ? 'confirm_tenant_removal' : 'withdraw_tenant_removal',
        input: { tenant },
      }
    },
  },
  {
    words: 'tenant removals',
    usage: '',
    summary: 'Lists removals of tenants: who asked and confirmed, when each is due, and what was removed.',
    prepare: () => ({ operation: 'list_tenant_removals', input: { limit: 1000 }, everyItem: true }),
  },
]
