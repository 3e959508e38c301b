/** Reads the rows that are proven, and makes their entries. Where an entry stands in the tree is not here. */

import { createHash, randomBytes } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { mapInTurns } from '../../base/in-turns.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts'
import type { TenantId } from '../../core/tenant.ts'
import { canonicalJson } from '../../proof/canonical-json.ts'
import { entryOf, type LeafKind, leafKinds, rowSalt } from '../../proof/entry.ts'
import type { Tx } from '../database/session.ts'
import type { RowSource } from './sources.ts'

/** A row that was read from a source. */
export interface SourceRow {
  readonly kind: LeafKind
  readonly ref: bigint
  /** By whose salt its words are hashed. */
  readonly person: string
  readonly open: JsonObject
  readonly sealed: JsonObject
}

/** Texts of an entry that are longer are hashed, so that an entry fits into a bundle whatever it is about. */
const openLengthMax = 1_024
const numberBits = 55n

/** What names a row in the store's tables: its kind above its number. */
export function leafKey(kind: LeafKind, ref: bigint): bigint {
  return (BigInt(leafKinds[kind]) << numberBits) | ref
}

/** The kind and the number of a key. @throws Fault `internal` for a key of no kind */
export function readLeafKey(key: bigint): { readonly kind: LeafKind; readonly ref: bigint } {
  const kind = (Object.keys(leafKinds) as LeafKind[]).find(
    (one) => BigInt(leafKinds[one]) === key >> numberBits,
  )
  if (kind === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a leaf of no kind' })
  return { kind, ref: key & ((1n << numberBits) - 1n) }
}

const selected = ({ number, person, open, sealed, from, where }: RowSource) =>
  `select (${number})::text as ref, coalesce(${person}, '') as person, (${open})::text as open, (${sealed})::text as sealed
   from ${from} where ${where}`

/**
 * Rows in the order of their numbers. Rows of one number come together, so there may be more than `most`.
 * @param after the number before the first
 * @param upto the last number that may be read
 */
export async function rowsAfter(
  tx: Tx,
  tenant: TenantId,
  source: RowSource,
  range: { readonly after: bigint; readonly upto: bigint; readonly most: number },
): Promise<readonly SourceRow[]> {
  const { number } = source
  const rows = await tx.query<Row>(
    `${selected(source)} and ${number} > $2::int8 and ${number} <= $3::int8
     order by ${number} fetch first ($4::int) rows with ties`,
    [tenant, range.after, range.upto, range.most],
  )
  return await mapInTurns(rows, undefined, (row) => toSourceRow(source.kind, row))
}

/** Rows with numbers a little below what has been passed, which have no leaf: they were committed very late. */
export async function lateRows(
  tx: Tx,
  tenant: TenantId,
  source: RowSource,
  range: { readonly after: bigint; readonly upto: bigint; readonly most: number },
): Promise<readonly SourceRow[]> {
  const { number, kind } = source
  const rows = await tx.query<Row>(
    `${selected(source)} and ${number} > $2::int8 and ${number} <= $3::int8
       and not exists (select from audit_leaf l where l.key = $5::int8 + ${number})
     order by ${number} limit $4::int`,
    [tenant, range.after, range.upto, range.most, leafKey(kind, 0n)],
  )
  return await mapInTurns(rows, undefined, (row) => toSourceRow(kind, row))
}

/** Those of these numbers that are there. */
export async function rowsNamed(
  tx: Tx,
  tenant: TenantId,
  source: RowSource,
  refs: readonly bigint[],
): Promise<readonly SourceRow[]> {
  const rows = await tx.query<Row>(
    `${selected(source)} and ${source.number} = any (array(select jsonb_array_elements_text($2::text::jsonb)::int8))`,
    [tenant, JSON.stringify(refs.map(String))],
  )
  return await mapInTurns(rows, undefined, (row) => toSourceRow(source.kind, row))
}

interface Row {
  readonly ref: string
  readonly person: string
  readonly open: string
  readonly sealed: string
}

function toSourceRow(kind: LeafKind, { ref, person, open, sealed }: Row): SourceRow {
  const shown = new Map(objectOf(open))
  const hidden = new Map(objectOf(sealed))
  for (const [name, value] of shown) {
    if (canonicalJson(value).length <= openLengthMax) continue
    shown.delete(name)
    hidden.set(name, value)
  }
  return { kind, ref: BigInt(ref), person, open: shown, sealed: hidden }
}

function objectOf(text: string): JsonObject {
  const value = parseJson(text)
  if (!isJsonObject(value))
    throw new Fault('internal', 'Internal error.', { detail: 'a row that is no object' })
  return value
}

/** The salts of persons. */
type Salts = ReadonlyMap<string, { readonly salt: Uint8Array; readonly since: number }>

const personDigest = (person: string) => createHash('sha256').update(person).digest('hex')

/** The salts of these persons; one that was erased is missing. */
export async function findSalts(tx: Tx, persons: readonly string[]): Promise<Salts> {
  const digests = new Map([...new Set(persons)].map((person) => [personDigest(person), person]))
  const rows = await tx.query<{ person: string; salt: string; since: string }>(
    `select encode(person, 'hex') as person, encode(salt, 'hex') as salt, since from audit_salt
     where person = any (array(select decode(jsonb_array_elements_text($1::text::jsonb), 'hex')))`,
    [JSON.stringify([...digests.keys()])],
  )
  return new Map(
    rows.map(({ person, salt, since }) => {
      const found = { salt: new Uint8Array(Buffer.from(salt, 'hex')), since: Number(since) }
      return [digests.get(person) ?? '', found]
    }),
  )
}

/** The same, and makes those that are missing. @param size of the tree, before leaves are added with them */
export async function ensureSalts(tx: Tx, persons: readonly string[], size: number): Promise<Salts> {
  const found = new Map(await findSalts(tx, persons))
  const missing = [...new Set(persons)].filter((person) => !found.has(person))
  const made = missing.map((person) => {
    const salt = new Uint8Array(randomBytes(32))
    found.set(person, { salt, since: size })
    return { person: personDigest(person), salt: Buffer.from(salt).toString('hex') }
  })
  if (made.length > 0)
    await tx.query(
      `insert into audit_salt (person, salt, since)
       select decode(m.person, 'hex'), decode(m.salt, 'hex'), $2::int8
       from jsonb_to_recordset($1::text::jsonb) m (person text, salt text)`,
      [JSON.stringify(made), size],
    )
  return found
}

/** The entry of a row. @throws Fault `internal` where the salt of its person is missing */
export function sourceEntry(row: SourceRow, salts: Salts, imported: boolean): Uint8Array {
  const person = salts.get(row.person)
  if (person === undefined)
    throw new Fault('internal', 'Internal error.', { detail: 'a salt that is missing' })
  const { kind, ref, open, sealed } = row
  return entryOf({ kind, ref, open, sealed, imported }, rowSalt(person.salt, kind, ref))
}
