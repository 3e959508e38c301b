/** Plans statements about pg_catalog and information_schema, and relays the catalog service's messages unchanged. */

import { nextTurn } from '../../base/turn.ts'
import { writeBare } from '../../wire/postgres/backend-messages.ts'
import { ByteReader } from '../../wire/postgres/byte-reader.ts'
import { backend } from '../../wire/postgres/protocol.ts'
import {
  describeFrames,
  executeFrames,
  findMessage,
  type RelayedMessage,
} from '../../wire/postgres/relayed-messages.ts'
import type { CatalogService } from './catalog-service.ts'
import { assertParameters } from './data-plan.ts'
import type { Outbox } from './outbox.ts'
import { type Plan, type Portal, type PortalBinding, type PortalOutcome, parameterBytes } from './portal.ts'
import type { Progress, RowSource } from './row-source.ts'
import { checkSession, type SessionState } from './session-state.ts'
import { WireError } from './wire-error.ts'

/** Bytes of rows of one catalog statement, held while the client reads them. */
const pgwireCatalogBytesMax = 64 * 1024 * 1024

/**
 * Plans a catalog statement. The catalog service describes it.
 * @throws WireError with the catalog's refusal
 */
export async function catalogPlan(
  session: SessionState,
  catalog: CatalogService,
  text: string,
  oids: readonly number[],
): Promise<Plan> {
  const answer = await ask(session, catalog, describeFrames(text, oids))
  const parameters = findMessage(answer, backend.parameterDescription)
  const parameterOids = parameters === undefined ? [] : readOids(parameters)
  const columns = findMessage(answer, backend.rowDescription)
  return {
    parameterOids,
    heldBytes: text.length + (columns?.bytes.length ?? 0) + parameterOids.length * 8,
    describe: (outbox) => writeRelayed(outbox, columns),
    open: async (binding) => {
      assertParameters(binding.parameters.length, parameterOids.length, binding.parameterFormats.length)
      // Bind already runs the statement, and even a refusal reveals what the catalog holds.
      if (session.check === undefined) checkSession(session)
      const frames = executeFrames(text, parameterOids, binding)
      return new CatalogPortal(session, await ask(session, catalog, frames), binding)
    },
  }
}

/** Reads the parameter types from a ParameterDescription. */
function readOids({ bytes }: RelayedMessage): readonly number[] {
  const reader = new ByteReader(bytes.subarray(5))
  return Array.from({ length: reader.uint16() }, () => reader.uint32())
}

function writeRelayed({ writer }: Outbox, message: RelayedMessage | undefined): void {
  if (message === undefined) writeBare(writer, 'noData')
  else writer.raw(message.bytes)
}

async function ask(
  session: SessionState,
  catalog: CatalogService,
  frontend: Uint8Array,
): Promise<Uint8Array> {
  const { reader, settings, processId } = session
  const startedMs = performance.now()
  const answer = await catalog
    .execute(
      {
        tenant: reader.tenant,
        principal: reader.principal,
        catalog: session.catalog,
        searchPath: settings.searchPath,
        settings: settings.all(),
        backendPid: processId,
      },
      frontend,
    )
    .finally(() => {
      session.tally.runMs += performance.now() - startedMs
    })
  if (answer.length > pgwireCatalogBytesMax)
    throw new WireError('54000', 'The result of the catalog statement is too large. Select fewer rows.')
  const failed = findMessage(answer, backend.errorResponse)
  if (failed !== undefined) throw relayedError(failed)
  return answer
}

/** Converts the catalog's refusal: SQLSTATE and message are kept, detail and hint are dropped. */
function relayedError({ bytes }: RelayedMessage): WireError {
  const fields = Buffer.from(bytes.subarray(5)).toString('utf8').split('\0')
  const field = (letter: string) => fields.find((each) => each.startsWith(letter))?.slice(1)
  return new WireError(
    field('C') ?? 'XX000',
    field('M') ?? 'The catalog returned an error without a message. Retry.',
  )
}

/** The rows of a complete result, already in the formats that were bound. */
class RelayedRows implements RowSource {
  readonly columns: RelayedMessage | undefined
  #answer: Uint8Array
  /** Offset at which the search for the next row starts. */
  #at = 0

  constructor(answer: Uint8Array) {
    this.#answer = answer
    this.columns = findMessage(answer, backend.rowDescription)
  }

  describe(outbox: Outbox): void {
    writeRelayed(outbox, this.columns)
  }

  async send(outbox: Outbox, _: unknown, rowsMax: number, signal: AbortSignal): Promise<Progress> {
    return await this.#advance(rowsMax, async (row) => {
      outbox.writer.raw(row.bytes)
      if (!outbox.isFull) return
      await outbox.flush()
      // Lets cancel requests and disconnects be processed between two chunks.
      await nextTurn()
      signal.throwIfAborted()
    })
  }

  skip(rowsMax: number): Promise<Progress> {
    return this.#advance(rowsMax, async () => {})
  }

  close(): void {
    this.#answer = new Uint8Array()
  }

  async #advance(rowsMax: number, pass: (row: RelayedMessage) => Promise<void>): Promise<Progress> {
    for (let rows = 0; rowsMax === 0 || rows < rowsMax; rows++) {
      const row = findMessage(this.#answer, backend.dataRow, this.#at)
      if (row === undefined) return { rows, ended: true }
      this.#at = row.end
      await pass(row)
    }
    return { rows: rowsMax, ended: false }
  }
}

class CatalogPortal implements Portal {
  readonly hasRows = true
  readonly rows: RelayedRows
  readonly heldBytes: number

  constructor(
    readonly session: SessionState,
    answer: Uint8Array,
    binding: PortalBinding,
  ) {
    this.heldBytes = answer.length + parameterBytes(binding)
    this.rows = new RelayedRows(answer)
  }

  describe(outbox: Outbox): void {
    this.rows.describe(outbox)
  }

  async execute(rowsMax: number, signal: AbortSignal): Promise<PortalOutcome> {
    const { rows, ended } = await this.rows.send(this.session.outbox, undefined, rowsMax, signal)
    this.session.tally.rows += rows
    return ended ? { tag: `SELECT ${rows}` } : 'suspended'
  }

  close(): void {
    this.rows.close()
  }
}
