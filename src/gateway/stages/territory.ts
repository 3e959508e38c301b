/**
 * Ring 1 of docs/reference/territory.md: every location that a change names lies in the table's own territory, or
 * becomes it where it is nobody's. Reads no storage. What the index says comes with the load of the policies.
 */

import type { JsonObject } from '../../base/json.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { Verdict } from '../../core/decision.ts'
import type { IdentifiedPrincipal } from '../../core/principal.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  folderPrefixesOf,
  isOwn,
  type TerritoryFound,
  type TerritoryRow,
  territoryOf,
  territoryPolicy,
} from '../../core/territory-owner.ts'
import { ancestorsOf } from '../../storage/canonical-path.ts'
import { type FedTable, feedTerritory, lackingOf, type RootedOwner } from '../../storage/feed-territory.ts'
import {
  claimOf,
  conflictOf,
  folderOf,
  isCovered,
  type PlacedLocation,
  placeLocation,
  rowAround,
  shownCharsMax,
} from '../../storage/place-locations.ts'
import { isOutOfBounds, storageRoots } from '../../storage/roots.ts'
import {
  type Claimed,
  type ClaimedPrefix,
  claimTerritory,
  type FoundConflict,
  type TerritoryClaim,
} from '../../store/territory/territory-rows.ts'
import { foldersOf, locationsNamed, type NamedLocation } from '../../wire/iceberg/named-locations.ts'
import { tableUuidOf } from '../../wire/iceberg/table-metadata.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import type { Change } from './change.ts'
import { assertOneName } from './one-name.ts'
import { policiesUnavailable } from './verdicts.ts'

/** A change of one table, as far as this stage sees it. */
export interface TerritoryChange {
  readonly tenant: TenantId
  readonly signal: AbortSignal
  readonly table: TableRef
  /** Territory taken for it goes with its intent; undefined where it has none. */
  readonly commitId: string | undefined
  /** Who makes it: administrators are told the storage roots. */
  readonly identified: IdentifiedPrincipal
  readonly named: readonly NamedLocation[]
}

export interface TerritoryJudged {
  /** Set where the change is refused. */
  readonly verdict?: Verdict
  /** Where the files of the table may lie once the change was made. */
  readonly prefixes: readonly string[]
  /** Takes and lists what a change that may pass brings with it. @returns a refusal where it cannot */
  readonly take?: () => Promise<Verdict | undefined>
}

/** The verdict on a change once its policies have been judged: what they allow takes its territory. */
export async function taking(verdict: Verdict, { take }: Pick<TerritoryJudged, 'take'>): Promise<Verdict> {
  return verdict.kind === 'allow' ? ((await take?.()) ?? verdict) : verdict
}

/** More folders than this are not asked for: what lies in another than the table's is denied in any case. */
const foldersMax = 64

/** The prefixes to ask the index for, so that it names their owners. */
export function askedPrefixes(named: readonly NamedLocation[]): readonly string[] {
  const folders = new Set<string>()
  for (const one of named) {
    const { path } = placeLocation(one)
    if (path !== undefined) folders.add(folderOf(path))
    if (folders.size === foldersMax) break
  }
  return [...new Set([...folders].flatMap(ancestorsOf))]
}

/**
 * Whether the index holds all folders of a table as its own, and all that a commit names lies in them. Then
 * {@link judgeTerritory} takes and refuses nothing, and depends on nothing of the table but its uuid.
 */
export function isAtHome(
  { credential }: Pick<Upstream, 'credential'>,
  { table, request }: Pick<Change, 'table' | 'request'>,
  base: JsonObject,
  found: TerritoryFound,
): boolean {
  const owner = ownerOf(credential, table, base)
  if (lackingOf({ owner, folders: foldersOf(base) }, found) !== undefined) return false
  const { claims, problems } = placesOf(locationsNamed(request.updates).map(placeLocation), found, owner)
  return claims.length === 0 && problems.length === 0
}

/**
 * Judges the locations that a change names. Feeds the index with the table's own folders where it lacks them.
 * @param base the table's metadata, as the catalog sent it; undefined if the change creates the table
 */
export async function judgeTerritory(
  parts: GatewayParts,
  upstream: Upstream,
  change: TerritoryChange,
  base: JsonObject | undefined,
  asked: TerritoryFound,
): Promise<TerritoryJudged> {
  const { tenant, table, named, identified } = change
  const owner = ownerOf(upstream.credential, table, base)
  let found = asked
  if (base !== undefined) {
    const fed = { owner, folders: foldersOf(base) }
    let claimed: Claimed | undefined
    try {
      claimed = await feedTerritory(parts.store, tenant, fed, 'commit', asked)
    } catch (thrown) {
      // What is not in the index is nobody's, so others could take it; and the table may be known under another name.
      return { prefixes: [], verdict: policiesUnavailable(parts, table, thrown) }
    }
    if (claimed !== undefined) {
      await assertFirstName(parts, upstream, change, fed, claimed)
      found = { ...claimed.found, rows: [...claimed.found.rows, ...asked.rows] }
    }
  }
  const own = territoryOf(found, owner).prefixes
  if (named.length === 0) return { prefixes: own }
  const { claims, problems } = placesOf(named.map(placeLocation), found, owner)
  const outside = problems.find(({ isOutsideRoots }) => isOutsideRoots)
  if (outside !== undefined)
    return { prefixes: own, verdict: outsideRoots(table, outside.placed, owner.roots, identified) }
  const [first] = problems
  const others = found.rows.filter((row) => !isOwn(row, owner))
  if (first !== undefined && found.mode === 'enforce')
    return { prefixes: own, verdict: denied(table, first, rowAround(first.placed, others)) }
  const prefixes = [...own, ...claims.map(({ prefix }) => prefix)]
  if (claims.length === 0 && problems.length === 0) return { prefixes }
  const conflicts = strayLocations(named, found, owner)
  const { commitId } = change
  const claim: TerritoryClaim = {
    owner,
    source: 'commit',
    strict: found.mode === 'enforce',
    prefixes: claims,
    conflicts,
    ...(commitId !== undefined && { commitId }),
  }
  return { prefixes, take: () => takeTerritory(parts, tenant, claim) }
}

type NamedChange = Pick<TerritoryChange, 'tenant' | 'table' | 'identified' | 'signal'>

/** @throws as {@link assertOneName}, where the table is known under another name */
async function assertFirstName(
  parts: GatewayParts,
  upstream: Upstream,
  change: NamedChange,
  fed: FedTable,
  { knownAs: first }: Claimed,
): Promise<void> {
  const asker = { ...change, mayCommit: true }
  if (first !== undefined)
    await assertOneName(parts, upstream, asker, { kind: 'table', fed, first, source: 'commit' })
}

/**
 * Refuses a table that is known under another name, before an action on it that names no location.
 * @throws as {@link assertOneName}; Fault of the store
 */
export async function assertKnownName(
  parts: GatewayParts,
  upstream: Upstream,
  change: NamedChange,
  base: JsonObject,
  asked: TerritoryFound,
): Promise<void> {
  const fed = { owner: ownerOf(upstream.credential, change.table, base), folders: foldersOf(base) }
  const claimed = await feedTerritory(parts.store, change.tenant, fed, 'commit', asked)
  if (claimed !== undefined) await assertFirstName(parts, upstream, change, fed, claimed)
}

/**
 * Which locations of a table are not in its territory, as conflicts.
 * @param found says who owns what at or above them: see {@link askedPrefixes}
 */
export function strayLocations(
  named: readonly NamedLocation[],
  found: TerritoryFound,
  owner: RootedOwner,
): readonly FoundConflict[] {
  const others = found.rows.filter((row) => !isOwn(row, owner))
  const conflicts = placesOf(named.map(placeLocation), found, owner).problems.map(({ placed }) =>
    conflictOf(placed, rowAround(placed, others)),
  )
  return [...new Map(conflicts.map((conflict) => [conflict.prefix, conflict])).values()].slice(0, foldersMax)
}

interface Problem {
  readonly placed: PlacedLocation
  /** Completes "the location …". */
  readonly why: string
  /** Then it is refused in every mode. */
  readonly isOutsideRoots?: true
}

function ownerOf(
  credential: Upstream['credential'],
  table: TableRef,
  base: JsonObject | undefined,
): RootedOwner {
  return {
    ...{ catalog: catalogOf(credential), credentialId: credential.id, table },
    roots: storageRoots(credential.config),
    tableUuid: base && tableUuidOf(base),
  }
}

/** Which folders the change takes, and which locations are not the table's. */
function placesOf(
  placed: readonly PlacedLocation[],
  found: TerritoryFound,
  owner: RootedOwner,
): { readonly claims: readonly ClaimedPrefix[]; readonly problems: readonly Problem[] } {
  const claims: ClaimedPrefix[] = []
  const problems: Problem[] = []
  const folders = folderPrefixesOf(found, owner)
  const { prefixes } = territoryOf(found, owner)
  const isHis = (path: string, use: PlacedLocation['use']) =>
    isCovered(use === 'file' ? prefixes : folders, path) ||
    isCovered(
      claims.map(({ prefix }) => prefix),
      path,
    )
  // Folders first, because a commit that moves its table may name files there before it says so.
  for (const one of [
    ...placed.filter(({ use }) => use !== 'file'),
    ...placed.filter(({ use }) => use === 'file'),
  ]) {
    // A folder that was taken before the roots were registered, too.
    const isOutsideRoots = one.use !== 'file' && isOutOfBounds(one.text, owner.roots)
    if (one.path !== undefined && !isOutsideRoots && isHis(one.path, one.use)) continue
    if (one.path === undefined || one.use === 'file')
      problems.push({ ...strayFile(one, owner.table), ...(isOutsideRoots && { isOutsideRoots }) })
    else {
      const claim = claimOf(one, owner.table, owner.tableUuid, owner.roots)
      if (typeof claim !== 'string') claims.push(claim)
      else problems.push({ placed: one, why: claim, ...(isOutsideRoots && { isOutsideRoots }) })
    }
  }
  return { claims, problems }
}

function strayFile(placed: PlacedLocation, table: TableRef): Problem {
  if (placed.path === undefined) return { placed, why: placed.refusal ?? 'is malformed' }
  return { placed, why: `is outside the territory of ${tableName(table)}` }
}

/**
 * The denial of a file that is outside the table's territory.
 * @param others the rows of other tables at or above it
 */
export function fileDenial(table: TableRef, location: string, others: readonly TerritoryRow[]): Verdict {
  const problem = strayFile(placeLocation({ use: 'file', text: location }), table)
  return denied(table, problem, rowAround(problem.placed, others))
}

function denied(table: TableRef, { placed, why }: Problem, row: TerritoryRow | undefined): Verdict {
  const location = (placed.path ?? placed.text).slice(0, shownCharsMax)
  const explanation =
    row === undefined
      ? `${location} is in the territory of no table; a steward can grant its folder to ${tableName(table)}`
      : `${location} is in ${row.prefix}, which belongs to ${tableName(row.table)}`
  return territoryDenial(`the location ${location} ${why}`, explanation)
}

/** The denial of a folder outside of the storage roots. Their names are for administrators. */
function outsideRoots(
  table: TableRef,
  placed: PlacedLocation,
  roots: readonly string[],
  identified: IdentifiedPrincipal,
): Verdict {
  if (placed.path === undefined) return denied(table, strayFile(placed, table), undefined)
  const location = placed.path.slice(0, shownCharsMax)
  const message = `the location ${location} lies outside of the storage roots of the catalog`
  const told = isAdministrator(identified)
    ? `${message}, which are ${roots.join(', ').slice(0, shownCharsMax)}`
    : `${message}; an administrator can register its folder in storage_roots`
  return territoryDenial(told, `${tableName(table)} can have no folder there: ${message}`)
}

function isAdministrator({ principal, verified }: IdentifiedPrincipal): boolean {
  return verified && ['administrator', 'owner'].some((role) => principal.roles.includes(role))
}

/**
 * A denial by this stage.
 * @param message for the writer: names no other table
 * @param explanation for stewards
 */
export function territoryDenial(message: string, explanation: string): Verdict {
  const reason = `${territoryPolicy}: ${message}`
  const outcome = { policyId: territoryPolicy, name: territoryPolicy, mode: 'enforce', value: false } as const
  return { kind: 'deny', reason, policyId: territoryPolicy, outcomes: [{ ...outcome, explanation }] }
}

/** Takes and lists what the judgement found. @returns a denial where another table has it by now, or has a part of it */
async function takeTerritory(
  parts: GatewayParts,
  tenant: TenantId,
  claim: TerritoryClaim,
): Promise<Verdict | undefined> {
  const { table } = claim.owner
  try {
    const { overlaps } = await claimTerritory(parts.store, tenant, claim)
    const [first] = overlaps
    if (first === undefined || !claim.strict) return undefined
    const { prefix, row } = first
    return territoryDenial(
      `the location ${prefix} overlaps the territory of another table`,
      `${prefix} overlaps ${row.prefix}, which belongs to ${tableName(row.table)}`,
    )
  } catch (thrown) {
    if (claim.strict) return policiesUnavailable(parts, table, thrown)
    parts.log.warn({ err: thrown, table }, 'conflicts of territory could not be listed')
    return undefined
  }
}
