/** The builder of the schema: its scalars, the interface Node, and pages as connections with forward cursors. */

import SchemaBuilder from '@pothos/core'
import { GraphQLError } from 'graphql'
import { Fault } from '../../base/fault.ts'
import type { Page, PageRequest } from '../../store/database/page.ts'
import { graphqlBounds } from './bounds.ts'
import type { GraphContext } from './context.ts'

interface Types {
  Context: GraphContext
  DefaultFieldNullability: false
  Scalars: { DateTime: { Input: Date; Output: Date } }
}

/** Makes a builder. */
export function newBuilder() {
  const builder = new SchemaBuilder<Types>({ defaultFieldNullability: false })
  builder.queryType({})
  builder.mutationType({})
  builder.subscriptionType({})
  builder.scalarType('DateTime', {
    description: 'An instant by RFC 3339.',
    serialize: (value) => value.toISOString(),
    parseValue: (value) => {
      const at = new Date(String(value))
      if (Number.isNaN(at.getTime())) throw new GraphQLError('A DateTime is a text by RFC 3339.')
      return at
    },
  })
  return builder
}

export type Builder = ReturnType<typeof newBuilder>

export interface Edge<T> {
  readonly node: T
  readonly cursor: string
}

export interface Connection<T> {
  readonly edges: readonly Edge<T>[]
  readonly hasNextPage: boolean
  /** Whether the page begins behind an item, which `after` named. */
  readonly hasPreviousPage: boolean
  /** Where the next page begins, where that is not behind the last item. */
  readonly next?: string
  readonly totalCount?: number | undefined
}

/** The page of a store that a connection's arguments ask for. @throws Fault `bad_request` beyond the bound */
export function pageOf({
  first,
  after,
}: {
  readonly first: number
  readonly after?: string | null | undefined
}): PageRequest {
  if (first < 1 || first > graphqlBounds.firstMax)
    throw new Fault('bad_request', `\`first\` is ${first}; it must be from 1 to ${graphqlBounds.firstMax}.`)
  const position = after == null ? undefined : positionOf(after)
  return { limit: first, ...(position !== undefined && { after: position }) }
}

const cursorOf = (position: string) => Buffer.from(position).toString('base64url')

/** @throws Fault `bad_request` for a text that is no cursor of ours */
function positionOf(cursor: string): string {
  const position = Buffer.from(cursor, 'base64url').toString()
  if (position === '' || cursorOf(position) !== cursor)
    throw new Fault('bad_request', '`after` is not a cursor of this list.')
  return position
}

/**
 * A page as a connection.
 * @param position what a page after this item begins with
 * @param after that the page was asked for with
 */
export function connectionOf<T>(
  { items, next }: Page<T>,
  position: (item: T) => string,
  { after, totalCount }: { readonly after?: string | null | undefined; readonly totalCount?: number } = {},
): Connection<T> {
  return {
    edges: items.map((node) => ({ node, cursor: cursorOf(position(node)) })),
    hasNextPage: next !== undefined,
    hasPreviousPage: after != null,
    // Behind items that the caller may not see a page goes on elsewhere than behind its last one.
    ...(next !== undefined && { next: cursorOf(next) }),
    totalCount,
  }
}

/** Part of a list that is in memory, as a connection. Its cursors are places. @throws Fault as {@link pageOf} */
export function sliceOf<T>(all: readonly T[], args: Parameters<typeof pageOf>[0]): Connection<T> {
  const { limit = 0, after = '0' } = pageOf(args)
  const from = Number(after)
  if (!/^(?:0|[1-9]\d{0,14})$/.test(after) || from > all.length)
    throw new Fault('bad_request', '`after` is not a cursor of this list.')
  const end = Math.min(from + limit, all.length)
  return {
    edges: all.slice(from, end).map((node, index) => ({ node, cursor: cursorOf(String(from + index + 1)) })),
    hasNextPage: end < all.length,
    hasPreviousPage: from > 0,
    totalCount: all.length,
  }
}
