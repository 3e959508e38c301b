/** Builds the basic plans and portals: result rows, commands that the connection runs itself, and empty text. */

import type { ResultBatch } from '../../core/result-batch.ts'
import { typeOid } from '../../core/sql-type.ts'
import { utf8Values } from '../../core/variable-width.ts'
import type { DescribedColumn } from '../../wire/postgres/backend-messages.ts'
import { writeBare, writeRowDescription } from '../../wire/postgres/backend-messages.ts'
import { formatAt } from '../../wire/postgres/frontend-messages.ts'
import type { Format } from '../../wire/postgres/protocol.ts'
import type { FormatOf } from '../../wire/postgres/rows.ts'
import { defaultTextOptions } from '../../wire/postgres/text-values.ts'
import type { Outbox } from './outbox.ts'
import type { Plan, Portal, PortalBinding, PortalOutcome } from './portal.ts'
import { BatchRows, type RowSource } from './row-source.ts'
import type { SessionState } from './session-state.ts'
import { WireError } from './wire-error.ts'

/** Writes RowDescription, or NoData for a statement without a result. */
export function writeDescription(
  { writer }: Outbox,
  columns: readonly DescribedColumn[] | undefined,
  formatOf: FormatOf,
): void {
  if (columns === undefined) writeBare(writer, 'noData')
  else writeRowDescription(writer, columns, formatOf)
}

/**
 * The format of each column.
 * @throws WireError 08P01 where the client names formats for another number of columns
 */
export function formatsFor(formats: readonly Format[], columnCount: number): FormatOf {
  if (formats.length > 1 && formats.length !== columnCount)
    throw new WireError(
      '08P01',
      `bind message has ${formats.length} result formats but query has ${columnCount} columns`,
    )
  return (column) => formatAt(formats, column)
}

/** A portal over rows. The query starts at the first Execute. */
export class RowsPortal implements Portal {
  readonly hasRows = true
  #rows: RowSource | undefined

  constructor(
    readonly session: SessionState,
    readonly columns: readonly DescribedColumn[],
    readonly formatOf: FormatOf,
    readonly tag: string,
    readonly start: () => RowSource,
    readonly heldBytes = 0,
  ) {}

  get rows(): RowSource {
    this.#rows ??= this.start()
    return this.#rows
  }

  describe(outbox: Outbox): void {
    writeDescription(outbox, this.columns, this.formatOf)
  }

  async execute(rowsMax: number, signal: AbortSignal): Promise<PortalOutcome> {
    const { rows, ended } = await this.rows.send(this.session.outbox, this.formatOf, rowsMax, signal)
    this.session.tally.rows += rows
    if (!ended) return 'suspended'
    return { tag: this.tag === 'SELECT' ? `SELECT ${rows}` : this.tag }
  }

  close(): void {
    this.#rows?.close()
  }
}

interface CommandPlanOptions {
  /** Column names of a command that returns rows of text. */
  readonly columns?: readonly string[]
  /** The type of its columns; text where absent. */
  readonly type?: 'text' | 'json'
  /** Types of its parameters; it takes none where absent. */
  readonly parameterOids?: readonly number[]
}

/** The result of a command: its tag, and rows of text where it has columns. */
interface CommandResult {
  readonly tag: string
  readonly rows?: readonly (readonly string[])[]
}

/** The plan of a statement that the connection runs itself. */
export function commandPlan(
  session: SessionState,
  run: (signal: AbortSignal, binding: PortalBinding) => CommandResult | Promise<CommandResult>,
  options: CommandPlanOptions = {},
): Plan {
  const { type = 'text', parameterOids = [] } = options
  const columns = options.columns?.map((name) => ({ name, type }))
  return {
    parameterOids,
    resultOids: columns?.map(() => typeOid(type)),
    describe: (outbox) => writeDescription(outbox, columns, () => 0),
    open: async (binding) => {
      const formatOf = formatsFor(binding.resultFormats, columns?.length ?? 0)
      let shown: RowsPortal | undefined
      let done = false
      return {
        hasRows: columns !== undefined,
        describe: (outbox) => writeDescription(outbox, columns, formatOf),
        async execute(rowsMax, signal) {
          if (shown === undefined) {
            if (done) throw new WireError('55000', 'the portal has run already')
            done = true
            const { tag, rows } = await run(signal, binding)
            if (columns === undefined || rows === undefined) return { tag }
            const start = () => textRows(columns, rows)
            shown = new RowsPortal(session, columns, formatOf, tag, start)
          }
          return await shown.execute(rowsMax, signal)
        },
        close: () => shown?.close(),
      }
    },
  }
}

/** A complete result of rows of text, of JSON, or of booleans as `t` and `f`. */
export function textRows(
  columns: readonly DescribedColumn[],
  rows: readonly (readonly string[])[],
): BatchRows {
  const batch: ResultBatch = {
    rowCount: rows.length,
    columns: columns.map(({ type }, index) =>
      type === 'bool'
        ? { type, values: Uint8Array.from(rows, (row) => (row[index] === 't' ? 1 : 0)) }
        : { type: type === 'json' ? type : 'text', ...utf8Values(rows.map((row) => row[index] ?? '')) },
    ),
  }
  async function* batches() {
    yield batch
  }
  return new BatchRows(columns, batches(), () => defaultTextOptions, new AbortController())
}

/** The plan of text that holds no statement. */
export function emptyPlan(): Plan {
  return {
    parameterOids: [],
    heldBytes: 0,
    describe: (outbox) => writeDescription(outbox, undefined, () => 0),
    open: async () => ({
      hasRows: false,
      describe: (outbox) => writeDescription(outbox, undefined, () => 0),
      execute: async () => 'empty',
      close: () => {},
    }),
  }
}
