/**
 * Declares the reading of a tenant's graph under /admin, within the bounds of docs/reference/limits.md 2.1. A graph
 * names policies, principals and tables, so it is for the internal admin organization.
 */

import { Type } from '@sinclair/typebox'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  anyObject,
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  text,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { edgeLabels, vertexLabels } from '../../store/database/names.ts'
import { cypher } from '../../store/graph/cypher.ts'
import { traverse } from '../../store/graph/graph.ts'
import { returnColumns } from '../../store/graph/return-columns.ts'
import type { Store } from '../../store/store.ts'
import { existingTenant } from './tenants.ts'

/** The ways in which edges are followed. */
const graphDirections = ['out', 'in', 'both'] as const

const operation = operationsOf<{ readonly store: Store }>()
const common = { tag: 'graph', method: 'GET', access: { organization: 'internal admin' } } as const
const graphPath = '/admin/tenants/{tenant}/graph' as const
const faults = { not_found: 'There is no such tenant.' }

export const graphOperations = [
  operation({
    ...common,
    name: 'traverse_graph',
    summary: 'Lists the nodes within reach of a node, nearest first',
    path: `${graphPath}/reach`,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({
      tenant: text,
      label: oneOf(vertexLabels),
      id: described(nonEmpty, 'of a Table: its levels and its name, joined by %1F'),
      hops: maybe(
        Type.Integer({ minimum: 1, maximum: limits.graphHopsMax, default: limits.graphHopsDefault }),
      ),
      direction: maybe(oneOf(graphDirections, { default: 'both' })),
      edges: maybe(described(list(oneOf(edgeLabels)), 'the labels to follow, joined by %1F; default: all')),
      ...pageInput,
    }),
    output: pageOf(object({ label: oneOf(vertexLabels), id: text, hops: ordinal, properties: anyObject })),
    faults,
    run: async (
      { parts },
      { tenant, label, id, hops = limits.graphHopsDefault, direction = 'both', edges, limit, page_token },
    ) => {
      const from = { label, id, hops, direction, ...(edges && { edgeLabels: edges }) }
      const existing = await existingTenant(parts.store, tenant)
      const page = await traverse(parts.store, existing, { ...from, ...pageRequest({ limit, page_token }) })
      return pageView(page, (node) => node)
    },
  }),
  operation({
    ...common,
    name: 'match_graph',
    summary: 'Runs a read-only Cypher query: MATCH with labelled nodes and relationships of fixed length',
    path: `${graphPath}/match`,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({ tenant: text, query: nonEmpty }),
    output: object({ items: described(list(anyObject), 'a member for each expression after RETURN') }),
    faults,
    run: async ({ parts }, { tenant, query }) => {
      const existing = await existingTenant(parts.store, tenant)
      return { items: await cypher(parts.store, existing, { text: query, columns: returnColumns(query) }) }
    },
  }),
]
