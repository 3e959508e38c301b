/** Plans DECLARE, FETCH and MOVE. Engines deliver rows once, so a cursor that goes back holds what it has passed. */

import type { DeclareCursorStmt, FetchStmt } from 'libpg-query'
import { writeBare } from '../../wire/postgres/backend-messages.ts'
import { formatAt } from '../../wire/postgres/frontend-messages.ts'
import type { FormatOf } from '../../wire/postgres/rows.ts'
import { type Bounds, fetchAll, goBack, goBefore, goTo, type Reading } from './moves.ts'
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
import { type Progress, type RowSource, turnAfter } from './row-source.ts'
import type { OpenPortal, SessionState } from './session-state.ts'
import { innerQuery, queryBehind, type SourceStatement } from './statement.ts'
import { WireError } from './wire-error.ts'

/** Estimated memory of a connection's portals: statements, parameters, and catalog results, which are held whole. */
const pgwirePortalBytesMax = 64 * 1024 * 1024

/** Portals and cursors of one connection. */
const pgwirePortalsMax = 100

/** Bits of PostgreSQL's parsenodes.h. */
const cursorOptions = { binary: 0x1, scroll: 0x2, noScroll: 0x4, hold: 0x20 } as const

/** Bytes of the rows that the cursors of one connection hold so that they can go back. */
const heldRowsBytesMax = 16 * 1024 * 1024
/** The same of a cursor that is declared without SCROLL: clients rewind those of small tables. */
const heldUnaskedBytesMax = 1024 * 1024

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
  const inner = await planQuery(innerQuery(statement, query, queryBehind('FOR')), oids)
  const hold = (options & cursorOptions.hold) !== 0
  const isBinary = (options & cursorOptions.binary) !== 0
  const scroll =
    (options & cursorOptions.scroll) !== 0
      ? 'scroll'
      : (options & cursorOptions.noScroll) !== 0
        ? 'no scroll'
        : undefined
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
        addPortal(session, name, { portal, hold, isBinary, ...(scroll && { scroll }) })
        return { tag: 'DECLARE CURSOR' }
      },
      close: () => {},
    }),
  }
}

/** Adds a portal. @throws WireError 54000 where the connection has too many portals, or they hold too many bytes */
export function addPortal({ portals }: SessionState, name: string, open: OpenPortal): void {
  const held = [...portals.values(), open].reduce(
    (sum, { portal, statementBytes = 0, source }) =>
      sum + statementBytes + (portal.heldBytes ?? 0) + (source?.heldBytes ?? 0),
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
  if (ismove)
    return commandPlan(session, async (signal) => {
      const rows = cursorRows(session, name)
      const bounds = boundsOf(session, name)
      const { direction, count } = await goTo(rows, tree, bounds, signal)
      return { tag: `MOVE ${await moved(rows, direction === 'forward' ? count : -count, bounds, signal)}` }
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
      return new FetchPortal(session, name, tree, (column) => formatAt(formats, column))
    },
  }
}

/** @returns how many rows were passed */
async function moved(rows: RowSource, count: number, bounds: Bounds, signal: AbortSignal): Promise<number> {
  if (count < 0) return goBack(rows, -count, bounds)
  if (count === 0) return 0
  return (await rows.skip(count === fetchAll ? 0 : count, signal)).rows
}

function boundsOf({ portals }: SessionState, name: string): Bounds {
  return { isForwardOnly: portals.get(name)?.scroll === 'no scroll' }
}

/** Whether a cursor may hold so many bytes more, beside what it and the others of its connection hold. */
function mayHold(
  portals: SessionState['portals'],
  { scroll }: OpenPortal,
  rows: RowSource,
  bytes: number,
): boolean {
  const held = [...portals.values()].reduce((sum, { source }) => sum + (source?.heldBytes ?? 0), 0)
  const isSmall = scroll === 'scroll' || rows.heldBytes + bytes <= heldUnaskedBytesMax
  return isSmall && held + bytes <= heldRowsBytesMax
}

/** @throws WireError 34000 where the cursor does not exist */
function cursorRows({ portals }: SessionState, name: string): RowSource {
  const open = portals.get(name)
  const rows = open?.portal.rows
  if (open === undefined || rows === undefined)
    throw new WireError('34000', `cursor "${name}" does not exist`)
  if (open.source === undefined) {
    if (open.scroll !== 'no scroll') rows.hold((bytes) => mayHold(portals, open, rows, bytes))
    open.source = rows
  }
  return rows
}

class FetchPortal implements Portal {
  readonly hasRows = true
  #left: Reading | undefined
  #fetched = 0

  constructor(
    readonly session: SessionState,
    readonly name: string,
    readonly tree: FetchStmt,
    readonly formatOf: FormatOf,
  ) {}

  describe(outbox: Outbox): void {
    cursorRows(this.session, this.name).describe(outbox, this.formatOf)
  }

  async execute(rowsMax: number, signal: AbortSignal): Promise<PortalOutcome> {
    const { session, name, formatOf } = this
    const source = cursorRows(session, name)
    const bounds = boundsOf(session, name)
    this.#left ??= await goTo(source, this.tree, bounds, signal)
    const { direction, count } = this.#left
    const asked = rowsMax === 0 ? count : Math.min(rowsMax, count)
    const { rows, ended } =
      asked === 0
        ? { rows: 0, ended: true }
        : direction === 'forward'
          ? await source.send(session.outbox, formatOf, asked === fetchAll ? 0 : asked, signal)
          : await this.#sendBackwards(source, asked, bounds, signal)
    this.#fetched += rows
    session.tally.rows += rows
    const left = count === fetchAll ? count : count - rows
    this.#left = { direction, count: left }
    return ended || left === 0 ? { tag: `FETCH ${this.#fetched}` } : 'suspended'
  }

  async #sendBackwards(
    source: RowSource,
    count: number,
    bounds: Bounds,
    signal: AbortSignal,
  ): Promise<Progress> {
    let rows = 0
    while (rows < count) {
      if (!goBefore(source, bounds)) return { rows, ended: true }
      rows += (await source.send(this.session.outbox, this.formatOf, 1, signal)).rows
      await turnAfter(rows, signal)
    }
    return { rows, ended: false }
  }

  close(): void {}
}
