/** Plans statements about pg_catalog and information_schema, and relays the catalog service's messages unchanged. */

import { ByteReader } from '../../wire/postgres/byte-reader.ts'
import { backend } from '../../wire/postgres/protocol.ts'
import {
  describeFrames,
  executeFrames,
  findMessage,
  parseFrames,
  type RelayedMessage,
} from '../../wire/postgres/relayed-messages.ts'
import type { CatalogService, CatalogSession } from './catalog-service.ts'
import { assertParameters } from './data-plan.ts'
import type { Outbox } from './outbox.ts'
import { type Plan, type Portal, type PortalBinding, type PortalOutcome, parameterBytes } from './portal.ts'
import { preparedRows } from './prepared-statements.ts'
import { RelayedRows, writeRelayed } from './relayed-rows.ts'
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
    resultOids: columns && readColumnOids(columns),
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

/**
 * Runs a SELECT of the catalog whose first row alone is wanted.
 * @returns its values in PostgreSQL's text format, none where there is no row, and the OIDs of their types
 * @throws WireError with the catalog's refusal
 */
export async function catalogRow(
  session: SessionState,
  catalog: CatalogService,
  text: string,
): Promise<{ readonly values: readonly (string | null)[]; readonly oids: readonly number[] }> {
  const binding = { parameters: [], parameterFormats: [], resultFormats: [] }
  const answer = await ask(session, catalog, executeFrames(text, [], binding))
  const columns = findMessage(answer, backend.rowDescription)
  const row = findMessage(answer, backend.dataRow)
  return { values: row ? readValues(row) : [], oids: columns ? readColumnOids(columns) : [] }
}

/** SQLSTATEs by which PostgreSQL says that there is nothing of a name. */
const unknownNames: ReadonlySet<string> = new Set(['42P01', '42883', '42703', '42704', '3F000'])

/**
 * Why a statement about the catalog is not served that reads something else, too.
 * @returns what PostgreSQL says where there is nothing of a name, because programs probe for names
 */
export async function mixedRefusal(
  session: SessionState,
  catalog: CatalogService,
  text: string,
  oids: readonly number[],
): Promise<WireError> {
  const mixed = 'A statement reads either the system catalog or governed tables, not both.'
  if (catalog.analyse !== undefined) {
    const answer = await catalog.analyse(catalogSession(session), parseFrames(text, oids))
    const failed = findMessage(answer, backend.errorResponse)
    const error = failed && relayedError(failed)
    if (error !== undefined && unknownNames.has(error.sqlState)) return error
  }
  return new WireError('0A000', mixed)
}

/** Reads the parameter types from a ParameterDescription. */
function readOids({ bytes }: RelayedMessage): readonly number[] {
  const reader = new ByteReader(bytes.subarray(5))
  return Array.from({ length: reader.uint16() }, () => reader.uint32())
}

/** Reads the texts of a DataRow. */
function readValues({ bytes }: RelayedMessage): readonly (string | null)[] {
  const reader = new ByteReader(bytes.subarray(5))
  return Array.from({ length: reader.uint16() }, () => {
    const length = reader.int32()
    return length < 0 ? null : Buffer.from(reader.bytes(length)).toString('utf8')
  })
}

/** Reads the types of the columns from a RowDescription. */
function readColumnOids({ bytes }: RelayedMessage): readonly number[] {
  const reader = new ByteReader(bytes.subarray(5))
  return Array.from({ length: reader.uint16() }, () => {
    reader.cstring()
    reader.bytes(6)
    const oid = reader.uint32()
    reader.bytes(8)
    return oid
  })
}

async function ask(
  session: SessionState,
  catalog: CatalogService,
  frontend: Uint8Array,
): Promise<Uint8Array> {
  const startedMs = performance.now()
  const answer = await catalog.execute(catalogSession(session), frontend).finally(() => {
    session.tally.runMs += performance.now() - startedMs
  })
  if (answer.length > pgwireCatalogBytesMax)
    throw new WireError('54000', 'The result of the catalog statement is too large. Select fewer rows.')
  const failed = findMessage(answer, backend.errorResponse)
  if (failed !== undefined) throw relayedError(failed)
  return answer
}

function catalogSession({ reader, settings, processId, catalog, statements }: SessionState): CatalogSession {
  return {
    tenant: reader.tenant,
    principal: reader.principal,
    catalog,
    searchPath: settings.searchPath,
    settings: settings.all(),
    backendPid: processId,
    prepared: () => preparedRows(statements),
  }
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
