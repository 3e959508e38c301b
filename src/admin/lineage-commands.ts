/** Commands for the namespaces of lineage datasets, for what is taken back of lineage, and for when edges are stale. */

import { type Command, onTenant } from './command.ts'
import type { Flags } from './flags.ts'

const keyOf = (flags: Flags) => ({
  namespace: flags.required('namespace'),
  first_level: flags.optional('first-level'),
})

export const lineageCommands: readonly Command[] = [
  {
    words: 'dataset-namespace put',
    usage: '--tenant ID --namespace NAMESPACE [--first-level LEVEL] --catalog NICKNAME',
    summary: 'Says that the datasets of a namespace of lineage events are tables of a catalog.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'map_dataset_namespace', admin: 'map_tenant_dataset_namespace' },
        { ...keyOf(flags), catalog: flags.required('catalog') },
      ),
  },
  {
    words: 'dataset-namespace list',
    usage: '--tenant ID',
    summary: 'Lists which catalogs the datasets of which namespaces belong to.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_dataset_namespaces', admin: 'list_tenant_dataset_namespaces' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'dataset-namespace remove',
    usage: '--tenant ID --namespace NAMESPACE [--first-level LEVEL]',
    summary: 'Ends such a mapping.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'unmap_dataset_namespace', admin: 'unmap_tenant_dataset_namespace' },
        keyOf(flags),
      ),
  },
  {
    words: 'lineage retire',
    usage: `--tenant ID --reason TEXT (--from-namespace NS --from NAME --to-namespace NS --to NAME |
    --namespace NS --dataset NAME | --producer URI --run ID)`,
    summary: 'Takes back an edge of lineage, a dataset with its edges, or a run.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'retire_lineage', admin: 'retire_tenant_lineage' },
        { ...subjectOf(flags), reason: flags.required('reason') },
      ),
  },
  {
    words: 'lineage restore',
    usage: '--tenant ID --id ID',
    summary: 'Ends such a retirement.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'restore_lineage', admin: 'restore_tenant_lineage' },
        { id: flags.required('id') },
      ),
  },
  {
    words: 'lineage list',
    usage: '--tenant ID',
    summary: 'Lists what is taken back of lineage, with reasons.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_lineage_retirements', admin: 'list_tenant_lineage_retirements' },
        { limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'staleness set',
    usage: '--tenant ID [--days N] [--job-namespace NS --job NAME]',
    summary: 'Sets after how many days without a run that says it an edge is stale; without --days, never.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'set_lineage_staleness', admin: 'set_tenant_lineage_staleness' },
        { days: flags.integer('days', 1, 36_500), job: nameIn(flags, 'job-namespace', 'job') },
      ),
  },
  {
    words: 'staleness list',
    usage: '--tenant ID',
    summary: 'Lists after how many days edges of lineage are stale.',
    prepare: (flags) =>
      onTenant(flags, { own: 'list_lineage_staleness', admin: 'list_tenant_lineage_staleness' }),
  },
]

function nameIn(flags: Flags, namespace: string, name: string) {
  const [of, named] = [flags.optional(namespace), flags.optional(name)]
  return of === undefined || named === undefined ? undefined : { namespace: of, name: named }
}

function subjectOf(flags: Flags) {
  const [from, to] = [nameIn(flags, 'from-namespace', 'from'), nameIn(flags, 'to-namespace', 'to')]
  const dataset = nameIn(flags, 'namespace', 'dataset')
  const [producer, run] = [flags.optional('producer'), flags.optional('run')]
  return {
    ...(from !== undefined && to !== undefined && { edge: { from, to } }),
    ...(dataset !== undefined && { dataset }),
    ...(producer !== undefined && run !== undefined && { run: { producer, run_id: run } }),
  }
}
