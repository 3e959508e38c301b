/** Declares the list of datasets that lineage reaches from a node (docs/reference/lineage.md 6.4). */

import { Fault } from '../base/fault.ts'
import { overseesTables } from '../core/oversight.ts'
import { operationsOf } from '../http/declare.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageMembers,
  tableIdentifier,
  text,
  wholeNumber,
} from '../http/schemas.ts'
import { lineageReach } from '../store/lineage/reach.ts'
import type { Store } from '../store/store.ts'
import { nodeName, possibleStarts } from './node-name.ts'
import { tableView } from './walk-graph.ts'

const operation = operationsOf<{ readonly store: Store }>()

export const reachOperations = [
  operation({
    name: 'list_lineage_reach',
    tag: 'lineage',
    summary: 'Every dataset that lineage reaches from a node, at any distance',
    description:
      'Nearest first within five hops; the page token goes on behind them. A dataset that longer ways reach too may stand again.',
    method: 'GET',
    path: '/api/v1/lineage/reach',
    access: { scope: 'read' },
    gives: { visible: ['existence'] },
    input: object({
      node: described(nonEmpty, 'as of a walk, but no column'),
      direction: maybe(oneOf(['upstream', 'downstream'], { default: 'downstream' })),
      ...pageInput,
    }),
    output: object({
      node: text,
      ...pageMembers(
        object({
          node: described(text, 'by which it is asked for'),
          namespace: text,
          name: text,
          table: maybe(described(tableIdentifier, 'of which it is a name')),
          same_as: maybe(described(text, 'the dataset that is named for it by a symlink')),
          hops: wholeNumber,
        }),
      ),
    }),
    faults: {
      not_found: 'The lineage graph has no such node.',
      unprocessable: 'Too many datasets lie at the end of a walk of five hops.',
    },
    run: async ({ parts: { store }, caller, signal }, { node, direction = 'downstream', ...page }) => {
      const readableOnly = !overseesTables(caller.principal)
      for (const start of possibleStarts(node)) {
        const query = { start, direction, readableOnly, signal, ...pageRequest(page) }
        const found = await lineageReach(store, caller.tenant, query)
        if (found === undefined) continue
        const items = pageView(found, ({ namespace, name, hops, tableKey }) => ({
          node: nodeName({ kind: 'dataset', namespace, name }),
          ...{ namespace, name },
          ...tableView(tableKey),
          hops,
        }))
        return { node: nodeName(start), ...items }
      }
      throw new Fault('not_found', 'The lineage graph has no such node.')
    },
  }),
]
