/**
 * For whom the code that runs now works: a tenant, once its session was found. What all share counts by it and gives to
 * owners in turn. It decides no access.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

interface Owned {
  owner: string
}

/** Strangers, whose session is not found yet: together one owner. */
export const nobody = ''
/** Work that no request asked for, such as jobs: together one owner, which strangers cannot crowd out. */
const background = '\u0000background'

const current = new AsyncLocalStorage<Owned>()

/** The owner of the work that runs now. */
export function currentOwner(): string {
  return current.getStore()?.owner ?? background
}

/** Runs work for an owner, which `becomeOwned` may change. */
export function asOwner<T>(owner: string, work: () => T): T {
  return current.run({ owner }, work)
}

/** Tells whose the work that runs now turned out to be. Outside of `asOwner` it does nothing. */
export function becomeOwned(owner: string): void {
  const owned = current.getStore()
  if (owned !== undefined) owned.owner = owner
}
