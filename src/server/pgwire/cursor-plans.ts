/** Plans DECLARE, FETCH and MOVE. Cursors only go forward, because engines deliver rows once. */

import type { DeclareCursorStmt, FetchStmt } from 'libpg-query'
import { writeBare } from '../../wire/postgres/backend-messages.ts'
import { formatAt } from '../../wire/postgres/frontend-messages.ts'
import type { FormatOf } from '../../wire/postgres/rows.ts'
import type { Outbox } from './outbox.ts'
import { commandPlan } from './plan.ts'
import {
  emptyBinding,
  openUnlessAborted,
  type Plan,
  type Portal,
  type PortalOutcome,
  parameterBytes,
} from './portal.ts'
import type { RowSource } from './row-source.ts'
import type { OpenPortal, SessionState } from './session-state.ts'
import { innerQuery, queryBehind, type SourceStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

/** Estimated memory of a connection's portals: statements, parameters, and catalog results, which are held whole. */
const pgwirePortalBytesMax = 64 * 1024 * 1024

/** Portals and cursors of one connection. */
const pgwirePortalsMax = 100

/** Bits of PostgreSQL's parsenodes.h. */
const cursorOptions = { binary: 0x1, scroll: 0x2, hold: 0x20 } as const
/** FETCH ALL in the parser's tree. */
const fetchAll = 2_147_483_647

/** Plans the query of a cursor. */
type PlanQuery = (query: SourceStatement, oids: readonly number[]) => Promise<Plan>

/** Plans DECLARE … CURSOR FOR a query, whose parameters are the statement's. */
export async function planDeclare(
  session: SessionState,
  statement: SourceStatement,
  tree: DeclareCursorStmt,
  oids: readonly number[],
  planQuery: PlanQuery,
): Promise<Plan> {
  const { portalname: name = '', options = 0, query } = tree
  if (query === undefined) throw new WireError('42601', 'The cursor has no query.')
  if ((options & cursorOptions.scroll) !== 0)
    throw new WireError('0A000', 'Cursors go forward only: SCROLL is not supported.')
  const inner = await planQuery(innerQuery(statement, query, queryBehind('FOR')), oids)
  const hold = (options & cursorOptions.hold) !== 0
  const isBinary = (options & cursorOptions.binary) !== 0
  return {
    parameterOids: inner.parameterOids,
    describe: ({ writer }) => writeBare(writer, 'noData'),
    open: async ({ parameters, parameterFormats }) => ({
      hasRows: false,
      heldBytes: parameterBytes({ parameters, parameterFormats, resultFormats: [] }),
      describe: ({ writer }) => writeBare(writer, 'noData'),
      async execute(_, signal) {
        if (!hold && !session.transaction.isBlock)
          throw new WireError('25P01', 'DECLARE CURSOR can only be used in transaction blocks')
        if (session.portals.has(name)) throw new WireError('42P03', `cursor "${name}" already exists`)
        const resultFormats = isBinary ? ([1] as const) : []
        const portal = await openUnlessAborted(
          inner.open({ parameters, parameterFormats, resultFormats }),
          signal,
        )
        addPortal(session, name, { portal, hold, isBinary })
        return { tag: 'DECLARE CURSOR' }
      },
      close: () => {},
    }),
  }
}

/** Adds a portal. @throws WireError 54000 where the connection has too many portals, or they hold too many bytes */
export function addPortal({ portals }: SessionState, name: string, open: OpenPortal): void {
  const held = [...portals.values(), open].reduce(
    (sum, { portal, statementBytes = 0 }) => sum + statementBytes + (portal.heldBytes ?? 0),
    0,
  )
  const isFull = portals.size >= pgwirePortalsMax
  if (isFull || held > pgwirePortalBytesMax) {
    open.portal.close()
    throw new WireError(
      '54000',
      isFull
        ? `A connection has at most ${pgwirePortalsMax} open portals and cursors.`
        : `The open portals and cursors of a connection hold at most ${pgwirePortalBytesMax} bytes.`,
    )
  }
  portals.set(name, open)
}

/** FETCH or MOVE. */
export function planFetch(session: SessionState, tree: FetchStmt): Plan {
  const { portalname: name = '', ismove = false } = tree
  const count = forwardCount(tree)
  if (ismove)
    return commandPlan(session, async (signal) => {
      const { rows } = await cursorRows(session, name).skip(count === fetchAll ? 0 : count, signal)
      return { tag: `MOVE ${rows}` }
    })
  return {
    parameterOids: [],
    describe: (outbox) => {
      const cursor = session.portals.get(name)?.portal
      if (cursor === undefined) writeBare(outbox.writer, 'noData')
      else cursor.describe(outbox)
    },
    open: async (binding) => {
      // Bind names the formats. A Query gets the format that the cursor was declared with.
      const isBinary = binding === emptyBinding && session.portals.get(name)?.isBinary === true
      const formats = isBinary ? ([1] as const) : binding.resultFormats
      return new FetchPortal(session, name, count, (column) => formatAt(formats, column))
    },
  }
}

/** @throws WireError 34000 where the cursor does not exist */
function cursorRows({ portals }: SessionState, name: string): RowSource {
  const rows = portals.get(name)?.portal.rows
  if (rows === undefined) throw new WireError('34000', `cursor "${name}" does not exist`)
  return rows
}

/** The number of rows forward. @throws WireError 55000 for other directions and positions */
function forwardCount({ direction = 'FETCH_FORWARD', howMany }: FetchStmt): number {
  const count = Number(howMany ?? 0)
  const isForward =
    (direction === 'FETCH_FORWARD' && count >= 1) || (direction === 'FETCH_RELATIVE' && count === 1)
  if (!isForward)
    throw new WireError('55000', 'cursor can only scan forward', 'ERROR', 'Use FETCH FORWARD with a count.')
  return count
}

class FetchPortal implements Portal {
  readonly hasRows = true
  #left: number
  #fetched = 0

  constructor(
    readonly session: SessionState,
    readonly name: string,
    count: number,
    readonly formatOf: FormatOf,
  ) {
    this.#left = count
  }

  describe(outbox: Outbox): void {
    cursorRows(this.session, this.name).describe(outbox, this.formatOf)
  }

  async execute(rowsMax: number, signal: AbortSignal): Promise<PortalOutcome> {
    const source = cursorRows(this.session, this.name)
    const asked = rowsMax === 0 ? this.#left : Math.min(rowsMax, this.#left)
    const { rows, ended } = await source.send(
      this.session.outbox,
      this.formatOf,
      asked === fetchAll ? 0 : asked,
      signal,
    )
    this.#fetched += rows
    this.session.tally.rows += rows
    if (this.#left !== fetchAll) this.#left -= rows
    return ended || this.#left === 0 ? { tag: `FETCH ${this.#fetched}` } : 'suspended'
  }

  close(): void {}
}
