/**
 * Issues the credentials of a load. Where the table was given credentials before, it begins while the upstream is asked
 * for the table, for the same folders. The store records them only if the tenant's territory is still the one that the
 * folders are from, and none leaves unless the load led to the same table. Otherwise what was begun is withdrawn.
 */

import type { TableRef } from '../../core/table-ref.ts'
import { folderPrefixesOf, type TerritoryFound } from '../../core/territory-owner.ts'
import type { FileSight } from '../../store/governance/protections.ts'
import type { PendingVend, VendedTable } from '../../vending/vending.ts'
import type { FedState, VendedFolders } from '../base/fed-tables.ts'
import { lastFed, type PlacedTable, rememberVended } from './feed-loaded.ts'
import { isLicensed } from './signing.ts'
import type { SurfaceRequest } from './surface-request.ts'
import { askTerritory, beginVending, vendTable } from './vend.ts'

/** To be disposed of with the request. */
export class LoadVend implements AsyncDisposable {
  readonly #surface: SurfaceRequest
  readonly #table: TableRef
  /** What the territory index says of the table; undefined until it is asked. */
  #asked: Promise<TerritoryFound> | undefined
  /** By which the caller may have credentials; set where they are begun. */
  #sight: FileSight | undefined
  #begun:
    | { readonly known: FedState; readonly vended: VendedFolders; readonly pending: PendingVend }
    | undefined

  constructor(surface: SurfaceRequest, table: TableRef) {
    this.#surface = surface
    this.#table = table
    if (lastFed(surface, table)?.vended === undefined) this.#ask()
  }

  /** Begins. That no filter or mask applies to the caller was asked before. */
  begin(sight: FileSight): void {
    this.#sight = sight
    const known = lastFed(this.#surface, this.#table)
    const vended = known?.isStray || known?.isRestricted ? undefined : known?.vended
    if (known !== undefined && vended !== undefined && isLicensed(this.#surface.parts.licensed)) {
      const pending = beginVending(this.#surface, this.#table, vended.prefixes, sight, vended.version)
      if (pending !== undefined) this.#begun = { known, vended, pending }
    }
    if (this.#begun === undefined) this.#ask()
  }

  /** The credentials of the table that was loaded. @throws Fault as `vendTable` */
  async take({ owner, territory, takenVersion }: PlacedTable): Promise<VendedTable> {
    const begun = this.#begun
    const isSame = takenVersion === undefined || takenVersion === begun?.vended.version
    if (begun !== undefined && isSame && begun.known.owner.tableUuid === owner.tableUuid) {
      this.#begun = undefined
      const vended = await begun.pending.take()
      if (vended !== undefined) return vended
    }
    const found = await territory(this.#ask())
    if (this.#sight === undefined) throw new Error('Credentials were taken that were not begun.')
    const vended = await vendTable(this.#surface, owner, found, this.#sight)
    const prefixes = folderPrefixesOf(found, owner)
    rememberVended(this.#surface, owner, { prefixes, version: found.version })
    return vended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Where the store fails, the record stays until it expires: it then says more than is out.
    await this.#begun?.pending.drop().catch(() => {})
  }

  #ask(): Promise<TerritoryFound> {
    this.#asked ??= askTerritory(this.#surface, this.#table)
    return this.#asked
  }
}
