/** Commands for the mapping of the namespaces of lineage datasets to catalogs. */

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
]
