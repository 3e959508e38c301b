/** Commands for what is kept and how long: retention settings, legal holds, and the months of history. */

import { historyKinds, keepDaysMax, keepDaysMin } from '../core/retention.ts'
import { type Command, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'
import type { Flags } from './flags.ts'

const kinds = historyKinds.join('|')

/** The members of a request that say how long a kind is kept: --days, or `--days forever`. */
function wantedRetention(flags: Flags) {
  const kind = flags.requiredChoice('kind', historyKinds)
  if (flags.required('days') === 'forever') return { kind }
  const days = flags.integer('days', keepDaysMin, keepDaysMax)
  if (days === undefined) throw new UsageError('--days is missing')
  return { kind, keep_days: days }
}

export const retentionCommands: readonly Command[] = [
  {
    words: 'retention show',
    usage: '--tenant ID',
    summary: 'Shows how long each kind of a tenant’s history is kept, and who said so.',
    prepare: (flags) => onTenant(flags, { own: 'list_retention', admin: 'list_tenant_retention' }),
  },
  {
    words: 'retention set',
    usage: `--tenant ID --kind ${kinds} --days N|forever`,
    summary: 'Says how long a kind of a tenant’s history is kept.',
    prepare: (flags) =>
      onTenant(flags, { own: 'put_retention', admin: 'put_tenant_retention' }, wantedRetention(flags)),
  },
  {
    words: 'retention unset',
    usage: `--tenant ID --kind ${kinds}`,
    summary: 'Leaves a kind of a tenant’s history to the setting of the installation.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'delete_retention', admin: 'delete_tenant_retention' },
        { kind: flags.requiredChoice('kind', historyKinds) },
      ),
  },
  {
    words: 'retention installation',
    usage: '',
    summary: 'Shows the settings of the installation, for tenants without their own.',
    prepare: () => ({ operation: 'list_installation_retention', input: {} }),
  },
  {
    words: 'retention set-installation',
    usage: `--kind ${kinds} --days N|forever`,
    summary: 'Says how long a kind is kept of tenants without a setting of their own.',
    prepare: (flags) => ({ operation: 'put_installation_retention', input: wantedRetention(flags) }),
  },
  {
    words: 'hold list',
    usage: '--tenant ID',
    summary: 'Lists legal holds, also those that were released.',
    prepare: (flags) => ({
      ...onTenant(flags, { own: 'list_holds', admin: 'list_tenant_holds' }, { limit: 1000 }),
      everyItem: true,
    }),
  },
  {
    words: 'hold set',
    usage: '--tenant ID [--table ns.table] --reason TEXT',
    summary: 'Sets a legal hold on a table; without --table on the whole tenant.',
    fields: ['id'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'set_hold', admin: 'set_tenant_hold' },
        { table: flags.table(), reason: flags.required('reason') },
      ),
  },
  {
    words: 'hold release',
    usage: '--tenant ID --id ID --reason TEXT',
    summary: 'Releases a legal hold.',
    fields: ['id'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'release_hold', admin: 'release_tenant_hold' },
        { id: flags.required('id'), reason: flags.required('reason') },
      ),
  },
  {
    words: 'month list',
    usage: '',
    summary: 'Lists the months of the audit log and of usage records, also those that were detached.',
    prepare: () => ({ operation: 'list_months', input: {} }),
  },
  {
    words: 'month detach',
    usage: '--name MONTH [--dry-run yes]',
    summary: 'Detaches a month from its table, leaving its count and hash, and shows how far it is.',
    details:
      'With --dry-run it shows what each tenant has in the month, and what keeps it there. Interrupted, it goes on when it is run again.',
    prepare: (flags) => {
      const input = { name: flags.required('name') }
      if (flags.choice('dry-run', ['yes']) !== undefined) return { operation: 'list_month_tenants', input }
      return { operation: 'detach_month', input, printsItems: { head: '', item: lineOf } }
    },
  },
  {
    words: 'month verify',
    usage: '--name MONTH',
    summary: 'Hashes a detached month again and compares it with its record.',
    prepare: (flags) => ({
      operation: 'verify_month',
      input: { name: flags.required('name') },
      printsItems: { head: '', item: lineOf },
    }),
  },
]

/** An item as a line of JSON. */
function lineOf(item: unknown): string {
  return `${JSON.stringify(item)}\n`
}
