/** Commands for a tenant's territory: its modes, prefixes, conflicts, grants, releases and hand-overs. */

import { manifestModes, territoryModes } from '../core/territory-owner.ts'
import { type Command, onTenant } from './command.ts'

export const territoryCommands: readonly Command[] = [
  {
    words: 'territory show',
    usage: '--tenant ID',
    summary: 'Shows the mode of a tenant’s territory, and the sweep of each catalog.',
    fields: ['mode', 'version', 'manifests', 'conflicts', 'quarantined', 'checks'],
    prepare: (flags) => onTenant(flags, { own: 'get_territory', admin: 'get_tenant_territory' }),
  },
  {
    words: 'territory mode',
    usage: `--tenant ID --mode ${territoryModes.join('|')}`,
    summary: 'Switches between observing and enforcing. Refused before every catalog has been swept.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'put_territory_mode', admin: 'put_tenant_territory_mode' },
        { mode: flags.requiredChoice('mode', territoryModes) },
      ),
  },
  {
    words: 'territory manifests',
    usage: `--tenant ID --mode ${manifestModes.join('|')}`,
    summary: 'Says when the manifests that commits bring are checked.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'put_territory_manifests', admin: 'put_tenant_territory_manifests' },
        { mode: flags.requiredChoice('mode', manifestModes) },
      ),
  },
  {
    words: 'territory list',
    usage: '--tenant ID',
    summary: 'Lists the prefixes that belong to tables.',
    prepare: (flags) => ({
      ...onTenant(flags, { own: 'list_territory', admin: 'list_tenant_territory' }, { limit: 1000 }),
      everyItem: true,
    }),
  },
  {
    words: 'territory conflicts',
    usage: '--tenant ID',
    summary: 'Lists the locations that tables name outside of their territory.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_territory_conflicts', admin: 'list_tenant_territory_conflicts' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'territory grant',
    usage: '--tenant ID --catalog NICKNAME --table ns.table --prefix LOCATION',
    summary: 'Grants a table a prefix that is nobody’s territory.',
    fields: ['prefix'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'grant_territory', admin: 'grant_tenant_territory' },
        {
          catalog: flags.required('catalog'),
          table: flags.requiredTable(),
          prefix: flags.required('prefix'),
        },
      ),
  },
  ...(['derive', 'revoke'] as const).map(
    (verb): Command => ({
      words: `territory ${verb}`,
      usage:
        '--tenant ID --catalog NICKNAME --table ns.table --source-catalog NICKNAME --source-table ns.table',
      summary:
        verb === 'derive'
          ? 'Lets a shallow clone name its source’s files, under the source’s filters and masks.'
          : 'Ends what a shallow clone shares with its source.',
      fields: verb === 'derive' ? ['prefixes'] : ['released'],
      prepare: (flags) =>
        onTenant(
          flags,
          { own: `${verb}_territory`, admin: `${verb}_tenant_territory` },
          {
            catalog: flags.required('catalog'),
            table: flags.requiredTable(),
            source: {
              catalog: flags.required('source-catalog'),
              table: flags.requiredTable('source-table'),
            },
          },
        ),
    }),
  ),
  {
    words: 'territory release',
    usage: '--tenant ID --catalog NICKNAME --table ns.table [--prefix LOCATION]',
    summary: 'Releases the territory of a dropped table, or a prefix that was granted.',
    fields: ['released'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'release_territory', admin: 'release_tenant_territory' },
        {
          catalog: flags.required('catalog'),
          table: flags.requiredTable(),
          prefix: flags.optional('prefix'),
        },
      ),
  },
  {
    words: 'territory hand-over',
    usage:
      '--tenant ID --catalog NICKNAME --table ns.table --to-catalog NICKNAME --to-table ns.table --uuid UUID',
    summary: 'Hands the territory of a dropped table over to the name or catalog to which it moves.',
    fields: ['handed_over'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'hand_territory_over', admin: 'hand_tenant_territory_over' },
        {
          from: { catalog: flags.required('catalog'), table: flags.requiredTable() },
          to: { catalog: flags.required('to-catalog'), table: flags.requiredTable('to-table') },
          table_uuid: flags.required('uuid'),
        },
      ),
  },
]
