/** Plans statements about governed data. The read path alone compiles and runs them. */

import { type SqlType, typeOfOid, typeOid } from '../../core/sql-type.ts'
import { withOffset } from '../../query/compile/base/local-time.ts'
import type { PreparedQuery, PrepareOptions, QueryContext } from '../../query/query-service.ts'
import type { DescribedColumn } from '../../wire/postgres/backend-messages.ts'
import { formatAt } from '../../wire/postgres/frontend-messages.ts'
import { parameterText } from '../../wire/postgres/parameters.ts'
import { tableObjectId } from './catalog/object-ids.ts'
import { askedOf, tellGoverned } from './governance-notice.ts'
import type { Outbox } from './outbox.ts'
import { formatsFor, RowsPortal, writeDescription } from './plan.ts'
import { type Plan, type Portal, type PortalBinding, parameterBytes } from './portal.ts'
import { BatchRows } from './row-source.ts'
import { queryContext, type SessionState } from './session-state.ts'
import { WireError } from './wire-error.ts'

/** OIDs that clients name for parameters and that map to a served type: unknown, name, bpchar, oid. */
const parameterAliases: ReadonlyMap<number, SqlType | undefined> = new Map([
  [0, undefined],
  [705, undefined],
  [19, 'text'],
  [1042, 'text'],
  [26, 'int8'],
])

/** @throws WireError 0A000 for a type that is not served */
function parameterType(oid: number): SqlType | undefined {
  if (parameterAliases.has(oid)) return parameterAliases.get(oid)
  const type = typeOfOid(oid)
  if (type === undefined)
    throw new WireError('0A000', `parameters of the type with OID ${oid} are not supported`)
  return type
}

/** Estimated bytes of a column's description beside its name. */
const columnBytes = 100

/** The plan of a compiled query. It holds only these values, because a connection may have many plans. */
export class DataPlan implements Plan {
  constructor(
    readonly session: SessionState,
    readonly context: QueryContext,
    readonly prepared: PreparedQuery<string>,
    /** Whom to ask, in words, where a notice may say so. */
    readonly ask?: string | undefined,
  ) {}

  get parameterOids(): readonly number[] {
    return this.prepared.parameters.map(typeOid)
  }

  get resultOids(): readonly number[] {
    return this.prepared.columns.map(({ type }) => typeOid(type))
  }

  get heldBytes(): number {
    const { source, columns, parameters } = this.prepared
    const described = columns.reduce((bytes, { name }) => bytes + name.length + columnBytes, 0)
    return source.length + described + parameters.length * 8
  }

  /** The columns with their tables' OIDs. Made when asked for, because a connection may hold many plans. */
  get columns(): readonly DescribedColumn[] {
    const { columns, origins = [] } = this.prepared
    return columns.map((column, index) => {
      const origin = origins[index]
      if (origin === undefined) return column
      const tableOid = tableObjectId(origin.schemaName, origin.tableName)
      return { ...column, origin: { tableOid, attribute: origin.attribute } }
    })
  }

  describe(outbox: Outbox): void {
    writeDescription(outbox, this.columns, () => 0)
  }

  async open(binding: PortalBinding): Promise<Portal> {
    const { columns } = this
    const formatOf = formatsFor(binding.resultFormats, columns.length)
    const held = parameterBytes(binding)
    return new RowsPortal(this.session, columns, formatOf, 'SELECT', this.rowsOf(binding), held)
  }

  /**
   * Reads the parameters. @returns a function that runs the query
   * @throws WireError 08P01 for a wrong number of parameters
   * @throws ValueError for a parameter that is not of its type
   */
  rowsOf(binding: PortalBinding): () => BatchRows {
    const { session, context, prepared } = this
    const parameters = zonedParameters(
      session,
      prepared.parameters,
      textParameters(prepared.parameters, binding),
    )
    return () => {
      tellGoverned(session, prepared, this.ask)
      const stop = new AbortController()
      const { signal } = stop
      const run = session.parts.queries.run(asSetNow(context, session), prepared, {
        parameters,
        signal,
        timeMs: session.settings.statementMs,
        sessionCheck: session.check,
      })
      session.tally.queryId = run.queryId
      const options = () => session.settings.textOptions
      const spent = (ms: number) => {
        session.tally.runMs += ms
      }
      return new BatchRows(this.columns, run, options, stop, spent, run)
    }
  }
}

/**
 * Compiles a query for the connection's principal.
 * @param oids the parameter types that the client named
 * @param options whether the client has already asked to run the query
 * @throws SqlError; WireError
 */
export async function planData(
  session: SessionState,
  text: string,
  oids: readonly number[],
  options: PrepareOptions = {},
): Promise<DataPlan> {
  const context = queryContext(session)
  const startedMs = performance.now()
  const preparing = session.parts.queries.prepare(context, text, oids.map(parameterType), {
    ...options,
    sessionCheck: session.check,
  })
  const prepared = await preparing.finally(() => {
    session.tally.planMs += performance.now() - startedMs
  })
  return new DataPlan(session, context, prepared, await askedOf(session, prepared))
}

/** The context of a run: a statement may be prepared in one time zone or for one purpose, and run in another. */
function asSetNow(context: QueryContext, { settings }: SessionState): QueryContext {
  const timeZone = settings.timeZone?.name
  const { purpose } = settings
  const isSame = timeZone === context.timeZone && purpose === context.purpose
  return isSame ? context : { ...context, timeZone, purpose }
}

/** Parameters whose texts name no offset are times of the session's zone. */
function zonedParameters(
  { settings }: SessionState,
  types: readonly SqlType[],
  values: readonly (string | null)[],
): readonly (string | null)[] {
  const zone = settings.timeZone
  if (zone === undefined) return values
  return values.map((value, index) => {
    const type = types[index]
    if (value === null || (type !== 'timestamptz' && type !== 'timestamptz[]')) return value
    if (type === 'timestamptz') return withOffset(value, zone)
    const elements = value.slice(1, -1).split(',')
    if (elements.every((each) => /[+-]\d\d(:\d\d)*"?$|^$|^null$/i.test(each))) return value
    throw new WireError('0A000', 'Give each element of an array of timestamps with time zone its offset.')
  })
}

/**
 * The parameters of a Bind in PostgreSQL's text format.
 * @throws WireError 08P01 as {@link assertParameters}
 * @throws ValueError for a value that is not of its type
 */
export function textParameters(
  types: readonly SqlType[],
  { parameters, parameterFormats }: PortalBinding,
): readonly (string | null)[] {
  assertParameters(parameters.length, types.length, parameterFormats.length)
  return parameters.map((value, index) =>
    value === null
      ? null
      : parameterText(value, formatAt(parameterFormats, index), types[index] ?? 'unknown'),
  )
}

/** @throws WireError 08P01 where Bind does not supply one value for each parameter */
export function assertParameters(given: number, required: number, formats: number): void {
  if (given !== required)
    throw new WireError(
      '08P01',
      `bind message supplies ${given} parameters, but prepared statement requires ${required}`,
    )
  if (formats > 1 && formats !== given)
    throw new WireError('08P01', `bind message has ${formats} parameter formats but ${given} parameters`)
}
